import type { SlicedScanOwner } from "../body/sliced-scan.ts";

/** The wait of one request until it is known who asks. Of its body at most what has been read is kept meanwhile. */
export class Entrance {
  readonly #owner: SlicedScanOwner;
  readonly #entering: Promise<void>;
  #isPending = true;

  constructor(entering: Promise<void>, owner: SlicedScanOwner) {
    this.#owner = owner;
    owner.holdBody(true);
    this.#entering = entering.finally(() => this.close()).catch((thrown: unknown) => owner.failed(thrown));
  }

  /** All that is needed of the request has come. Returns true if `run` has to wait; then it is called later, also after a failure. */
  delays(run: () => void): boolean {
    if (!this.#isPending) return false;
    this.#entering.then(run).catch((thrown: unknown) => this.#owner.failed(thrown));
    // Nothing more of it is kept, and whoever leaves is noticed only where somebody reads.
    this.#owner.holdBody(false);
    return true;
  }

  /** The request has ended, or may go on. */
  close(): void {
    if (!this.#isPending) return;
    this.#isPending = false;
    this.#owner.holdBody(false);
  }
}
