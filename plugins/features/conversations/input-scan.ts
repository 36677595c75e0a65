import { DIRECT_BYTES, SlicedScan, type SlicedScanOwner } from "../../../core/body/sliced-scan.ts";
import type { WaitingPlace, WaitOwner } from "../../../core/contract/slots/admit.ts";
import type { Run } from "../../../core/run.ts";
import { type FoundItems, ItemReader, NO_ITEMS } from "./item-reader.ts";

/** Goes on with what was found. Returns a place if the request has to wait then. */
type GoOn = (found: FoundItems) => WaitingPlace | undefined;

/** Finds the items in the request's input that have an id, then goes on. A long input is read in slices, for which the request waits. */
export function readInput(run: Run, owner: WaitOwner, goOn: GoOn): WaitingPlace | undefined {
  const body = run.body!;
  if (body.kind("input") !== "array") return goOn(NO_ITEMS);
  const span = body.span("input")!;
  const reader = new ItemReader(span);
  if (span[1] - span[0] > DIRECT_BYTES) return new InputScan(run, owner, reader, span[0], goOn);
  reader.push(body.bytes, span[1]);
  return goOn(reader);
}

class InputScan implements WaitingPlace, SlicedScanOwner {
  readonly #owner: WaitOwner;
  readonly #reader: ItemReader;
  readonly #goOn: GoOn;
  readonly #scan: SlicedScan;
  /** Where the request waits after the scan. */
  #next: WaitingPlace | undefined;

  constructor({ buffer, parts }: Run, owner: WaitOwner, reader: ItemReader, from: number, goOn: GoOn) {
    this.#owner = owner;
    this.#reader = reader;
    this.#goOn = goOn;
    this.#scan = new SlicedScan(buffer!, reader, from, parts.gate.scanTurns, this);
    this.#scan.complete();
  }

  leave(): void {
    this.#scan.close();
    this.#next?.leave();
  }

  scanned(): void {
    try {
      this.#next = this.#goOn(this.#reader);
    } catch (thrown) {
      return this.#owner.failed(thrown);
    }
    if (this.#next === undefined) this.#owner.admitted();
  }

  failed(thrown: unknown): void {
    this.#owner.failed(thrown);
  }

  /** All of the body is here. */
  holdBody(): void {}
}
