/** One request as it arrived, and its outcome. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values as received, in order. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** Number of its connection, starting at 1. */
  readonly connection: number;
  /** "aborted": by the client. "cut": by a fault. */
  readonly outcome: "open" | "finished" | "aborted" | "cut";
}

/** A request that can still change. Only the exchange that owns it writes to it. */
export type OpenRecord = { -readonly [Field in keyof SeenRequest]: SeenRequest[Field] };

/** Limit for the kept bodies together. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The last requests a replica received, oldest first. */
export class Seen {
  readonly #limit: number;
  readonly #requests: SeenRequest[] = [];
  readonly #waiters = new Set<() => void>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get requests(): readonly SeenRequest[] {
    return this.#requests;
  }

  /** The newest request, or the newest one on a path; it may still be open. */
  last(path?: string): SeenRequest | undefined {
    return this.#requests.findLast((request) => path === undefined || request.path === path);
  }

  /**
   * Resolves as soon as `isMet` returns true. It is called at every change of a request or of the engine's load. Rejects after
   * `timeoutMs`.
   */
  until(isMet: (requests: readonly SeenRequest[]) => boolean, timeoutMs = 5000): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => end(() => reject(new Error("The expected requests did not arrive in time."))), timeoutMs);
      const check = () => {
        if (isMet(this.#requests)) end(resolve);
      };
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.#waiters.delete(check);
        settle();
      };
      this.#waiters.add(check);
      check();
    });
  }

  clear(): void {
    this.#requests.length = 0;
    this.#bytes = 0;
  }

  /** For the replica: keeps a request whose head has arrived. */
  add(request: SeenRequest): void {
    this.#requests.push(request);
    this.changed();
  }

  /** For the replica: the body of a request is complete. */
  bodyArrived(request: SeenRequest): void {
    // The request may have been dropped meanwhile.
    if (this.#requests.includes(request)) this.#bytes += request.body.length;
    this.changed();
  }

  /** For the replica: something has changed. Drops the oldest requests beyond the limits and checks what tests wait for. */
  changed(): void {
    while (this.#requests.length > this.#limit || (this.#bytes > MAX_BYTES && this.#requests.length > 1)) {
      this.#bytes -= this.#requests.shift()?.body.length ?? 0;
    }
    for (const check of [...this.#waiters]) check();
  }
}

/** A request as JSON; its body in base64. */
export function seenAsJson(request: SeenRequest): unknown {
  return { ...request, body: request.body.toString("base64") };
}
