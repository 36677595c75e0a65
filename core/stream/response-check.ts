import type { ResponseShape } from "../contract/response-shape.ts";
import { EventStream } from "./event-stream.ts";
import { isBlank } from "./json-bytes.ts";
import { endsWhole } from "./json-end.ts";
import { AT_START, Member } from "./member.ts";
import { errorIn } from "./said-error.ts";
import { saidStatus, statusAtEnd } from "./said-status.ts";
import { type StreamEnd, streamEnd } from "./stream-end.ts";

const NONE = -1;
const NO_STREAM = new EventStream(0);
const OPEN = 0x7b;
const COLON = 0x3a;
/** Its first byte in UTF-8. */
const BYTE_ORDER_MARK = 0xef;

interface Shape {
  readonly document: readonly Member[];
  readonly events: readonly Member[];
  readonly endings: readonly Member[];
  readonly hasTypes: boolean;
}

const shapes = new WeakMap<ResponseShape, Shape>();

/** Why a complete response with status 2xx is none of its API. */
export interface Flaw {
  /** What it lacks, or has in its place: words that can stand behind "the last: ". */
  readonly what: string;
  /** The status of the error that it reports, where that is the request's own fault or overload; 0 for everything else. */
  readonly status: number;
  /** It is certain that something is missing at its end: a client must not take it for whole. */
  readonly isCut: boolean;
}

/**
 * Looks whether a complete response has what the responses of its API have, whatever pieces it comes in. Until the first member of its
 * shape has come, it reads each byte; then only the end is looked at.
 */
export class ResponseCheck {
  readonly #shape: Shape;
  /** By its header, not by what it is. */
  readonly #isEventStream: boolean;
  /** The first byte that is no white space; NONE before. */
  #first = NONE;
  /** One of these must come. */
  #members: readonly Member[] = [];
  /** How much of each of them was found. */
  readonly #states: number[] = [];
  #hasShown = false;

  constructor(shape: ResponseShape, isEventStream: boolean) {
    this.#shape = shapeOf(shape);
    this.#isEventStream = isEventStream;
  }

  /** Whether it is the API's response by what came so far: nothing of an error is. */
  get hasShown(): boolean {
    return this.#hasShown;
  }

  /** Reads body bytes: `spanCount` [start, end) pairs into `chunk`. */
  read(chunk: Uint8Array, spans: ArrayLike<number>, spanCount: number): void {
    for (let i = 0; i < spanCount && !this.#hasShown; i++) this.#readSpan(chunk, spans[2 * i]!, spans[2 * i + 1]!);
  }

  /** The status of the request's own error that its first bytes say, if they say it whole; 0 for everything else. */
  statusAtOnce(first: Uint8Array): number {
    if (this.#hasShown || this.#first === NONE) return 0;
    if (this.#first === OPEN) return saidStatus(Buffer.from(first).toString("latin1").trimStart());
    return saidStatus(errorIn(first, true));
  }

  /**
   * What is wrong with a complete response; undefined for nothing.
   *
   * @param tail - its last bytes, or all of them
   * @param bytes - how many there are in all
   * @param stream - of an event stream
   */
  flaw(tail: Uint8Array, bytes: number, stream = NO_STREAM): Flaw | undefined {
    if (this.#first === NONE) return lacks("an empty body", this.#isEventStream);
    const isAll = bytes <= tail.length;
    if (this.#first === OPEN) return this.#flawOfDocument(tail, isAll);
    const error = errorIn(tail, isAll);
    const status = error === "" ? 0 : saidStatus(error);
    const end = this.#endOf(tail, isAll, stream);
    if (error !== "" && (status > 0 || stream.isBetween || end !== "missing"))
      return { what: "an error event", status, isCut: false };
    if (stream.lastBegins("response.failed") && stream.isBetween) return lacks("an error event");
    if (!this.#hasShown) return this.#flawOfNothing(tail, isAll, stream, end);
    return end === "missing" ? lacks("an event stream without its end", this.#isEventStream) : undefined;
  }

  /** Whether an event stream has had its last event. */
  hasEnd(tail: Uint8Array, bytes: number, stream: EventStream): boolean {
    return this.#isEventStream && this.#first !== NONE && this.#endOf(tail, bytes <= tail.length, stream) === "whole";
  }

  #endOf(tail: Uint8Array, isAll: boolean, stream: EventStream): StreamEnd {
    const { endings } = this.#shape;
    return endings.length === 0 ? "unknown" : streamEnd(endings, tail, isAll, stream);
  }

  /** One that is sent as an event stream has no event, and reaches nobody. */
  #flawOfDocument(tail: Uint8Array, isAll: boolean): Flaw | undefined {
    const isWhole = endsWhole(tail, isAll);
    if (!this.#hasShown) return { what: this.#missing(), status: errorStatus(tail, isAll), isCut: !isWhole };
    return isWhole ? undefined : lacks("a JSON document that is cut", true);
  }

  /** Events that are none of its API may be all that a server has to say; nothing at all is no end. */
  #flawOfNothing(tail: Uint8Array, isAll: boolean, stream: EventStream, end: StreamEnd): Flaw {
    const isCut = end === "missing" && this.#isEventStream && (stream.ended === 0 || this.#shape.hasTypes);
    const status = errorStatus(tail, isAll);
    return { what: this.#missing(), status, isCut: isCut && status === 0 };
  }

  #missing(): string {
    return this.#isEventStream ? "no event of its API" : `no ${this.#documentKeys()}`;
  }

  /** As people read them. */
  #documentKeys(): string {
    const wanted = this.#shape.document.filter(({ isEmptyList }) => !isEmptyList);
    return wanted.map(({ name }) => name).join(" or ");
  }

  #readSpan(chunk: Uint8Array, start: number, end: number): void {
    let at = start;
    if (this.#first === NONE) {
      while (at < end && isBlank(chunk[at]!)) at += 1;
      if (at === end) return;
      this.#begin(chunk[at]!);
    }
    for (let i = 0; i < this.#members.length; i++) {
      const member = this.#members[i]!;
      this.#states[i] = member.advance(this.#states[i]!, chunk, at, end);
      if (this.#states[i] === member.found) this.#hasShown = true;
    }
  }

  #begin(first: number): void {
    this.#first = first;
    const { document, events } = this.#shape;
    if (beginsLine(first)) this.#members = events;
    // A document that is sent as an event stream has no event, and reaches nobody.
    else if (first === OPEN && !this.#isEventStream) this.#members = document;
    for (let i = 0; i < this.#members.length; i++) this.#states.push(AT_START);
  }
}

/** Whether a response of this status is to have what its API's have. Those of 202, 204 and 205 say that there is nothing, or not yet. */
export function isAnswer(status: number): boolean {
  return status < 300 && status !== 202 && status !== 204 && status !== 205;
}

const lacks = (what: string, isCut = false): Flaw => ({ what, status: 0, isCut });

/**
 * For a response that has nothing of its API: it may be an error that is sent as a document, or too long for its end to show what it is.
 */
function errorStatus(tail: Uint8Array, isAll: boolean): number {
  const text = Buffer.from(tail.buffer, tail.byteOffset, tail.length).toString("latin1");
  return isAll ? saidStatus(text.trimStart()) : statusAtEnd(text);
}

/** Whether it can begin an event stream: a field, a comment, or the byte order mark before them. */
function beginsLine(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || byte === COLON || byte === BYTE_ORDER_MARK;
}

function shapeOf(shape: ResponseShape): Shape {
  const known = shapes.get(shape);
  if (known !== undefined) return known;
  const { document, events = [], endings = [], hasTypes = false } = shape;
  const made = {
    document: document.map(memberOf),
    events: events.map(memberOf),
    endings: endings.map(memberOf),
    hasTypes,
  };
  shapes.set(shape, made);
  return made;
}

const memberOf = (text: string) => new Member(text);
