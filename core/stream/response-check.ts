import type { ResponseShape } from "../contract/response-shape.ts";
import { endsWhole } from "./json-end.ts";
import { AT_START, isBlank, Member } from "./member.ts";
import { saysError } from "./said-error.ts";

const NONE = -1;
const OPEN = 0x7b;
const COLON = 0x3a;
/** Its first byte in UTF-8. */
const BYTE_ORDER_MARK = 0xef;

interface Shape {
  readonly document: readonly Member[];
  readonly events: readonly Member[];
  readonly endings: readonly Member[];
}

const shapes = new WeakMap<ResponseShape, Shape>();

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

  /**
   * What a complete response lacks, in words that can stand behind "the last: "; "" for nothing.
   *
   * @param tail - its last bytes, or all of them
   * @param bytes - how many there are in all
   */
  lack(tail: Uint8Array, bytes: number): string {
    if (this.#first === NONE) return "an empty body";
    const { endings } = this.#shape;
    const isDocument = this.#first === OPEN && !this.#isEventStream;
    const isAll = bytes <= tail.length;
    if (!isDocument && saysError(tail, isAll)) return "an error event";
    if (!this.#hasShown) return this.#isEventStream ? "no event of its API" : `no ${this.#documentKeys()}`;
    if (isDocument) return endsWhole(tail, isAll) ? "" : "a JSON document that is cut";
    return endings.length === 0 || standsOf(endings, tail) ? "" : "an event stream without its end";
  }

  /** As people read them. */
  #documentKeys(): string {
    return this.#shape.document.map(({ name }) => name).join(" or ");
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

/** Whether it can begin an event stream: a field, a comment, or the byte order mark before them. */
function beginsLine(byte: number): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || byte === COLON || byte === BYTE_ORDER_MARK;
}

// Loops, because a callback would be a closure for each response.

function standsOf(members: readonly Member[], tail: Uint8Array): boolean {
  for (const member of members) if (member.standsIn(tail)) return true;
  return false;
}

function shapeOf(shape: ResponseShape): Shape {
  const known = shapes.get(shape);
  if (known !== undefined) return known;
  const { document, events = [], endings = [] } = shape;
  const made = {
    document: document.map(memberOf),
    events: events.map(memberOf),
    endings: endings.map(memberOf),
  };
  shapes.set(shape, made);
  return made;
}

const memberOf = (text: string) => new Member(text);
