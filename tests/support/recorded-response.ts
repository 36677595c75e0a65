import type { ResponseWriter } from "../../core/host/response-writer.ts";

/** A host's end of a response: keeps what it is given, and throws at calls that come out of order. */
export class RecordedResponse implements ResponseWriter {
  hasStarted = false;
  status = 0;
  reason = "";
  lines = "";
  /** As declared; NaN before the start. */
  length = Number.NaN;
  body = "";
  flushes = 0;
  ending: "end" | "abort" | undefined;
  lastWords = "";
  isBodyHeld = false;
  /** Whether the client takes what is written. */
  hasRoom = true;

  holdBody(isHeld: boolean): void {
    this.isBodyHeld = isHeld;
  }

  start(status: number, reason: string, lines: string, length: number): void {
    if (this.hasStarted) throw new Error("The response was started twice");
    this.hasStarted = true;
    Object.assign(this, { status, reason, lines, length });
  }

  write(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): boolean {
    this.#assertOpen();
    for (let i = 0; i < spanCount; i++) this.body += Buffer.from(chunk.subarray(spans[2 * i], spans[2 * i + 1])).toString();
    return this.hasRoom;
  }

  flush(): void {
    this.flushes += 1;
  }

  end(): void {
    this.#assertOpen();
    this.ending = "end";
  }

  abort(lastWords: string | Uint8Array): void {
    this.#assertOpen();
    this.ending = "abort";
    this.lastWords = typeof lastWords === "string" ? lastWords : Buffer.from(lastWords).toString();
  }

  #assertOpen(): void {
    if (!this.hasStarted || this.ending !== undefined) throw new Error("The response was written to when it was not open");
  }
}
