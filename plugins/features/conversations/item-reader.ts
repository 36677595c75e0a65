import { RouterError } from "../../../core/contract/errors.ts";
import type { BodyReader } from "../../../core/contract/parser.ts";
import { NO_PARTS } from "../../../core/contract/prompt-part.ts";
import type { Span } from "../../../core/contract/span.ts";
import { textAt } from "../../../core/stream/text-at.ts";

const QUOTE = 0x22;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A reference has a type and an id. A longer item is none, and its id is looked for in its first bytes. */
const MOST_REFERENCE_BYTES = 4_096;
const MOST_ID_BYTES = 64 * 1024;
const LONGEST_ID = 256;
const MOST_REFERENCES = 1_000;
/** Of one list; what stands behind them can't be referred to. */
const MOST_IDS = 4_096;
const ID = ["id"];
const REFERENCE = "item_reference";
const NO_IDS: ReadonlyMap<string, Span> = new Map();

/** An item that stands for another one. */
export interface ItemReference {
  readonly id: string;
  readonly span: Span;
}

/** What is found in a list of items; spans count from behind the list's bracket, and are in its order. */
export interface FoundItems {
  readonly references: readonly ItemReference[];
  /** Of items that are no references, by their ids. */
  readonly ids: ReadonlyMap<string, Span>;
}

export const NO_ITEMS: FoundItems = { references: [], ids: NO_IDS };

/** Finds the items of a JSON list that have an id. The list, at [start, end) of the body, is known to be valid. */
export class ItemReader implements BodyReader, FoundItems {
  readonly references: ItemReference[] = [];
  readonly ids = new Map<string, Span>();
  readonly parts = NO_PARTS;
  readonly #first: number;
  readonly #end: number;
  #at: number;
  #depth = 0;
  #itemStart = 0;
  #isInString = false;

  constructor([start, end]: Span) {
    this.#first = start + 1;
    this.#end = end;
    this.#at = start;
  }

  /** Throws RouterError for a list with too many references, and for a reference without an id. */
  push(bytes: Uint8Array, length: number): void {
    const end = Math.min(length, this.#end);
    let at = this.#at;
    while (at < end) {
      if (this.#isInString) at = this.#stringRest(bytes, at, end);
      else {
        this.#between(bytes, at);
        at += 1;
      }
    }
    this.#at = at;
  }

  finish(bytes: Uint8Array, length: number): void {
    this.push(bytes, length);
  }

  spanOf(): undefined {
    return undefined;
  }

  #between(bytes: Uint8Array, at: number): void {
    switch (bytes[at]) {
      case QUOTE:
        this.#isInString = true;
        return;
      case OPEN_OBJECT:
      case OPEN_LIST:
        if (this.#depth === 1) this.#itemStart = at;
        this.#depth += 1;
        return;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        this.#depth -= 1;
        if (this.#depth === 1 && bytes[this.#itemStart] === OPEN_OBJECT) this.#item(bytes, this.#itemStart, at + 1);
    }
  }

  /** Returns where the string ends, or beyond `end` if an escape is cut there. */
  #stringRest(bytes: Uint8Array, from: number, end: number): number {
    let at = from;
    while (at < end && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
    if (at >= end) return at;
    this.#isInString = false;
    return at + 1;
  }

  #item(bytes: Uint8Array, start: number, end: number): void {
    const span: Span = [start - this.#first, end - this.#first];
    const short = end - start <= MOST_REFERENCE_BYTES ? parsed(bytes.subarray(start, end)) : undefined;
    const id = short === undefined ? textAt(bytes, start, Math.min(end, start + MOST_ID_BYTES), ID) : short["id"];
    if (short !== undefined && isReference(short)) {
      if (typeof id !== "string") throw notAnId();
      if (this.references.length >= MOST_REFERENCES) throw tooMany();
      this.references.push({ id, span });
    } else if (typeof id === "string" && id !== "" && id.length <= LONGEST_ID && this.ids.size < MOST_IDS && !this.ids.has(id))
      this.ids.set(id, span);
  }
}

/** The ids in a list that a replica made. References in it are not looked at: they are none of a client. */
export function readIds(bytes: Uint8Array, span: Span): ReadonlyMap<string, Span> {
  const reader = new ItemReader(span);
  try {
    reader.push(bytes, span[1]);
  } catch {
    // It has references that are none; what stands before them is read.
  }
  return reader.ids;
}

function parsed(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()) as Readonly<Record<string, unknown>>;
}

/** The API lets clients leave out the type of an item that has an id alone. */
function isReference(item: Readonly<Record<string, unknown>>): boolean {
  const { type = null, id, ...others } = item;
  if (type === REFERENCE) return true;
  return type === null && typeof id === "string" && Object.keys(others).length === 0;
}

function notAnId(): RouterError {
  return new RouterError("invalid_value", 'The "id" of an "item_reference" in "input" must be a string: the id of an item.');
}

function tooMany(): RouterError {
  const message = `"input" has more than ${MOST_REFERENCES} items of the type "item_reference"; send the items themselves.`;
  return new RouterError("invalid_value", message);
}
