import { RouterError } from "../../../core/contract/errors.ts";
import type { WaitOwner } from "../../../core/contract/slots/admit.ts";
import { errorEvent } from "../../../core/errors/dialects.ts";
import type { ResponseWriter } from "../../../core/host/response-writer.ts";
import { ownLines } from "../../../core/intake/own-lines.ts";
import type { Run } from "../../../core/run.ts";
import type { Deadlines, Timed } from "../../../core/wire/deadlines.ts";
import type { KeepAliveSettings } from "./keep-alive-config.ts";
import { COMMENT } from "./keep-alive-events.ts";
import { refusalEvent } from "./refusal-event.ts";

/** Of an error's body so much is read. */
const MOST_ERROR_BYTES = 64 * 1024;
/** So many comments may wait for a client that takes nothing. */
const MOST_UNTAKEN = 1_000;

/**
 * Stands in front of a response that is asked for as an event stream. If nothing comes for a while, it sends the head of one, and then
 * comments. Whoever responds does not see that: for them the response has not started, so that another replica may be tried. What they
 * start later follows the comments: an event stream as it is, anything else as an error event, with which the response ends.
 */
export class EarlyHead implements ResponseWriter, Timed {
  /** Whether the head was sent before there was a response. */
  isSent = false;
  readonly #run: Run;
  readonly #inner: ResponseWriter;
  readonly #owner: WaitOwner;
  readonly #deadlines: Deadlines;
  readonly #periodMs: number;
  #dueMs: number;
  #untaken = 0;
  /** What follows the comments; "none" as long as nothing has started. */
  #follows: "none" | "stream" | "error" | "document" = "none";
  #status = 0;
  #errorBody: Buffer[] = [];
  #errorBytes = 0;

  /** Its time begins now. */
  constructor(run: Run, owner: WaitOwner, { beforeHeadMs, periodMs }: KeepAliveSettings, deadlines: Deadlines) {
    this.#run = run;
    this.#inner = run.response;
    this.#owner = owner;
    this.#deadlines = deadlines;
    this.#periodMs = periodMs;
    this.#dueMs = deadlines.nowMs + beforeHeadMs;
    deadlines.add(this);
  }

  get hasStarted(): boolean {
    return this.isSent ? this.#follows !== "none" : this.#inner.hasStarted;
  }

  sweep(nowMs: number): void {
    if (nowMs < this.#dueMs) return;
    if (!this.isSent) this.#sendHead();
    this.#sendComment();
    this.#dueMs = this.#deadlines.nowMs + this.#periodMs;
  }

  /** The request has ended, or its stream has begun. */
  close(): void {
    this.#deadlines.delete(this);
  }

  holdBody(isHeld: boolean): void {
    this.#inner.holdBody(isHeld);
  }

  start(status: number, reason: string, lines: string, length: number): void {
    if (!this.isSent) {
      this.close();
      return this.#inner.start(status, reason, lines, length);
    }
    if (this.hasStarted) return;
    this.#status = status;
    this.#follows = status >= 300 ? "error" : isPlainStream(lines) ? "stream" : "document";
    if (this.#follows === "stream") this.close();
  }

  write(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number, isVerbatim: boolean): boolean {
    if (!this.isSent || this.#follows === "stream") return this.#inner.write(chunk, spans, spanCount, isVerbatim);
    if (this.#follows === "error") this.#keep(chunk, spans, spanCount);
    return true;
  }

  flush(): void {
    this.#inner.flush();
  }

  end(isVerbatimEnd = false): void {
    if (!this.isSent || this.#follows === "stream") return this.#inner.end(isVerbatimEnd);
    if (this.#follows === "error") return this.#breakOff();
    // What came is thrown away, so the request has failed.
    this.#follows = "none";
    this.#owner.failed(noStream());
  }

  abort(lastWords: string | Uint8Array): void {
    if (this.#follows === "error" || this.#follows === "document") this.#breakOff();
    else this.#inner.abort(lastWords);
  }

  #sendHead(): void {
    this.#inner.start(200, "OK", STREAM_LINES + ownLines(this.#run), -1);
    this.isSent = true;
  }

  #sendComment(): void {
    if (this.#untaken === MOST_UNTAKEN) return;
    const hasRoom = this.#inner.write(COMMENT, [0, COMMENT.length], 1, false);
    this.#inner.flush();
    this.#untaken = hasRoom ? 0 : this.#untaken + 1;
  }

  #keep(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void {
    for (let i = 0; i < spanCount; i++) {
      const piece = chunk.subarray(spans[2 * i]!, spans[2 * i + 1]!);
      this.#errorBytes += piece.length;
      // A longer one is not read, so its pieces are of no use.
      if (this.#errorBytes > MOST_ERROR_BYTES) this.#errorBody = [];
      else this.#errorBody.push(Buffer.from(piece));
    }
  }

  /** Ends the response with what has become of it. */
  #breakOff(): void {
    const { ticket, dialect } = this.#run;
    const body = Buffer.concat(this.#errorBody).toString();
    this.close();
    this.#inner.abort(
      this.#follows === "error"
        ? refusalEvent(this.#status, body, dialect, ticket.id)
        : errorEvent(noStream(), dialect, ticket.id),
    );
  }
}

const STREAM_LINES = "content-type: text/event-stream; charset=utf-8\r\nx-accel-buffering: no\r\ncache-control: no-cache\r\n";

/** Whether these header lines are those of an event stream that is not compressed. */
function isPlainStream(lines: string): boolean {
  return /^content-type:[ \t]*text\/event-stream/im.test(lines) && !/^content-encoding:(?![ \t]*identity[ \t]*\r)/im.test(lines);
}

function noStream(): RouterError {
  const message =
    "The replica did not answer with an event stream, whose head the client had got; look for the cause in its log.";
  return new RouterError("upstream_invalid", message);
}
