import type { JsonBody } from "../../../core/body/json-body.ts";
import { readJsonBody } from "../../../core/body/json-body.ts";
import type { Tap } from "../../../core/contract/slots/tap.ts";
import { idOfDocument, idOfEvent, LONGEST_ID } from "../../../core/stream/first-id-tap.ts";
import { Gathered } from "./gathered.ts";
import { readIds } from "./item-reader.ts";
import { listItems } from "./replayed-body.ts";
import type { ItemList } from "./turn-store.ts";

/** A longer response, or a longer last event of a stream, is not kept: it is read in one go. */
const MOST_BYTES = 1024 * 1024;
/** So deep may a response be nested. */
const MOST_DEPTH = 256;
/** The events with a response's beginning or end have it in a member of this name; those with parts of it have not. */
const RESPONSE = Buffer.from('"response"');
const ENDS = ["response.completed", "response.incomplete", "response.done", "response.failed", "response.cancelled"];
/** Also those that were cut at their `max_output_tokens` are continued, as vLLM has it. */
const KEPT = ["completed", "incomplete"];
const DATA = Buffer.from("data:");
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const OBJECT_KEYS = { keys: ["id", "status", "output"] };
const EVENT_KEYS = { keys: ["type", "response"] };

/** What was read of a response. */
export interface ReadResponse {
  readonly id: string;
  /** Its items without the brackets around them, in memory that is used again. */
  readonly output: ItemList;
}

/** Who wants to know of a response; one of the calls comes at most. */
export interface ResponseListener {
  /** It came to its end, and can be continued. */
  answered(response: ReadResponse): void;
  /** It has more bytes than are read, or there was no room for them; the id is "" if it is not known. */
  wasTooLong(id: string): void;
  /** It came to its end, and is not what a response is. */
  wasUnreadable(): void;
  /** It failed, or is not done. */
  hasFailed(): void;
}

/** Reads a whole response. */
export class WholeReader implements Tap {
  readonly #gathered: Gathered;
  readonly #listener: ResponseListener;

  constructor(listener: ResponseListener, mayGrow: (bytes: number) => boolean) {
    this.#listener = listener;
    this.#gathered = new Gathered(MOST_BYTES, mayGrow);
  }

  read(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void {
    for (let at = 0; at < spanCount; at++) this.#gathered.add(chunk, spans[2 * at]!, spans[2 * at + 1]!);
  }

  end(isWhole: boolean): void {
    const { buffer, length, isCut } = this.#gathered;
    if (!isWhole) this.#listener.hasFailed();
    else if (isCut) this.#listener.wasTooLong(idOfDocument(buffer, 0, length));
    else tell(this.#listener, buffer.subarray(0, length));
    this.#gathered.free();
  }
}

/** Reads the last event of a stream, when it has come: its client may go on at once. Costs a search in each read. */
export class StreamReader implements Tap {
  readonly #listener: ResponseListener;
  /** A line that has not ended. */
  readonly #line: Gathered;
  #id = "";
  #hasCutLine = false;
  #isOver = false;

  constructor(listener: ResponseListener, mayGrow: (bytes: number) => boolean) {
    this.#listener = listener;
    this.#line = new Gathered(MOST_BYTES, mayGrow);
  }

  read(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void {
    if (this.#isOver || spanCount === 0) return;
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    let mark = bytes.indexOf(RESPONSE, spans[0]);
    for (let at = 0; at < spanCount && !this.#isOver; at++)
      mark = this.#readSpan(bytes, spans[2 * at]!, spans[2 * at + 1]!, mark);
  }

  end(isWhole: boolean): void {
    this.#line.free();
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#hasCutLine) this.#listener.wasTooLong(this.#id);
    else if (isWhole) this.#listener.wasUnreadable();
    else this.#listener.hasFailed();
  }

  /** `mark` is the first place in the chunk, from some byte at or before `start` on, with a response; -1 without one. Returns the next. */
  #readSpan(bytes: Buffer, start: number, end: number, mark: number): number {
    let at = start;
    if (this.#line.length > 0 || this.#line.isCut) {
      const lineEnd = bytes.indexOf(LF, at);
      const isEnded = lineEnd >= 0 && lineEnd < end;
      this.#line.add(bytes, at, isEnded ? lineEnd : end);
      if (!isEnded) return mark;
      this.#gatheredLine();
      at = lineEnd + 1;
    }
    if (at >= end) return mark;
    const linesEnd = bytes[end - 1] === LF ? end - 1 : bytes.lastIndexOf(LF, end - 1);
    let next = mark;
    while (linesEnd >= at && !this.#isOver) {
      if (next >= 0 && next < at) next = bytes.indexOf(RESPONSE, at);
      if (next < 0 || next >= linesEnd) break;
      const lineEnd = bytes.indexOf(LF, next);
      this.#readLine(bytes, Math.max(at, bytes.lastIndexOf(LF, next) + 1), lineEnd);
      at = lineEnd + 1;
    }
    const rest = Math.max(at, linesEnd + 1);
    if (rest < end && !this.#isOver) this.#line.add(bytes, rest, end);
    return next;
  }

  #gatheredLine(): void {
    const { buffer, length, isCut } = this.#line;
    if (isCut) {
      if (this.#id === "") this.#id = idOfEvent(buffer, 0, length);
      this.#hasCutLine = true;
    } else if (buffer.subarray(0, length).includes(RESPONSE)) this.#readLine(buffer, 0, length);
    this.#line.clear();
  }

  /** A line that has a response in it. */
  #readLine(bytes: Buffer, start: number, lineEnd: number): void {
    const end = bytes[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
    if (bytes.compare(DATA, 0, DATA.length, start, Math.min(end, start + DATA.length)) !== 0) return;
    if (this.#id === "") this.#id = idOfEvent(bytes, start, end);
    let from = start + DATA.length;
    if (bytes[from] === SPACE) from += 1;
    const response = endIn(bytes.subarray(from, end));
    if (response === undefined) return;
    this.#isOver = true;
    tell(this.#listener, response);
  }
}

/** The response in an event, if it is one that ends a stream. */
function endIn(event: Buffer): Uint8Array | undefined {
  if (!ENDS.some((type) => event.includes(type))) return undefined;
  try {
    const body = readJsonBody(event, EVENT_KEYS, MOST_DEPTH);
    const span = body.span("response");
    return span !== undefined && ENDS.includes(body.text("type") ?? "") ? event.subarray(...span) : undefined;
  } catch {
    return undefined;
  }
}

function tell(listener: ResponseListener, bytes: Uint8Array): void {
  const body = objectIn(bytes);
  const id = body && textAt(body, "id");
  if (body === undefined || id === undefined || id === "" || id.length > LONGEST_ID) return listener.wasUnreadable();
  if (!KEPT.includes(textAt(body, "status") ?? "")) return listener.hasFailed();
  if (body.kind("output") !== "array") return listener.wasUnreadable();
  const span = body.span("output")!;
  listener.answered({ id, output: { items: listItems(bytes.subarray(...span)), ids: readIds(bytes, span) } });
}

function objectIn(bytes: Uint8Array): JsonBody | undefined {
  try {
    return readJsonBody(bytes, OBJECT_KEYS, MOST_DEPTH);
  } catch {
    return undefined;
  }
}

function textAt(body: JsonBody, key: string): string | undefined {
  try {
    return body.text(key);
  } catch {
    return undefined;
  }
}
