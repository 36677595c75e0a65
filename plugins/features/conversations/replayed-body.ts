import { RouterError } from "../../../core/contract/errors.ts";
import type { Span } from "../../../core/contract/span.ts";
import type { FoundItems } from "./item-reader.ts";
import type { Turn } from "./turn.ts";

const UTF8 = new TextEncoder();
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const SMALL_N = 0x6e;
const SPACE = 0x20;

/** A text as input stands for one message of the user. */
const BEFORE_TEXT = UTF8.encode('{"type":"message","role":"user","content":');
const BEHIND_TEXT = UTF8.encode("}");
const LIST = UTF8.encode("[");
const LIST_END = UTF8.encode("]");
const NEXT = UTF8.encode(",");
const INPUT = UTF8.encode('"input":');

/** Where a list of items that begins with a text has the text. */
export const TEXT_AT = BEFORE_TEXT.length;

/** What a request's `input` is. */
export interface OwnInput {
  /** Its items as they are sent, without the brackets around them, in parts. */
  readonly items: readonly Uint8Array[];
  /** Where in them those are that have an id. */
  readonly ids: ReadonlyMap<string, Span>;
  /** Of an input that is a text; else 0. */
  readonly textBytes: number;
}

const NOTHING: OwnInput = { items: [], ids: new Map(), textBytes: 0 };

/**
 * The input at `span`, in which `found` are the items with ids, with the items of `replacing` in place of the references. Throws RouterError
 * for a value that is no input.
 */
export function ownInput(
  body: Uint8Array,
  span: Span | undefined,
  found: FoundItems,
  replacing: readonly Uint8Array[],
): OwnInput {
  if (span === undefined || body[span[0]] === SMALL_N) return NOTHING;
  const value = body.subarray(span[0], span[1]);
  if (value[0] === QUOTE) return { ...NOTHING, items: [BEFORE_TEXT, value, BEHIND_TEXT], textBytes: value.length };
  if (value[0] !== OPEN_LIST) throw new RouterError("invalid_value", 'The value of "input" must be a text or a list of items.');
  const items = listItems(value);
  if (items.length === 0) return NOTHING;
  const edits = found.references.map(({ span: [start, end] }, at): Edit => ({ start, end, parts: [replacing[at]!] }));
  return { items: edited(items, edits), ids: movedBy(edits, found.ids), textBytes: 0 };
}

/** Where the spans are when the edits are made, which lie between them. Both are in the list's order. */
function movedBy(edits: readonly Edit[], ids: ReadonlyMap<string, Span>): ReadonlyMap<string, Span> {
  if (edits.length === 0) return ids;
  const moved = new Map<string, Span>();
  let next = 0;
  let moreBytes = 0;
  for (const [id, [start, end]] of ids) {
    for (; next < edits.length && edits[next]!.start < start; next++) moreBytes += growthOf(edits[next]!);
    moved.set(id, [start + moreBytes, end + moreBytes]);
  }
  return moved;
}

const growthOf = ({ start, end, parts }: Edit) => parts.reduce((sum, { length }) => sum + length, 0) - (end - start);

/** What is between the brackets of a JSON list, up to its last item; what stands before the first item stays, as caches have it. */
export function listItems(list: Uint8Array): Uint8Array {
  let end = list.length - 1;
  while (end > 1 && list[end - 1]! <= SPACE) end -= 1;
  return list.subarray(1, end);
}

/** One change of a body: what stands at [start, end) becomes `parts`. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly parts: readonly Uint8Array[];
}

/**
 * The body, a JSON object, without its `previous_response_id`, whose value is at `previous`, and with the items of `history` in front of
 * `own`, which are those of its own input; in parts. All bytes are as they came, but for those between the items.
 */
export function replayedBody(
  body: Uint8Array,
  previous: Span | undefined,
  input: Span | undefined,
  history: readonly Turn[],
  own: readonly Uint8Array[],
): readonly Uint8Array[] {
  const earlier = history.filter(({ items }) => items.length > 0).flatMap(({ items }) => [items, NEXT]);
  if (own.length === 0) earlier.pop();
  const list = [LIST, ...earlier, ...own, LIST_END];
  const edits: Edit[] = [];
  if (input !== undefined) edits.push({ start: input[0], end: input[1], parts: list });
  if (previous !== undefined && input !== undefined) edits.push(withoutMember(body, previous));
  else if (previous !== undefined) edits.push({ start: keyStart(body, previous[0]), end: previous[1], parts: [INPUT, ...list] });
  return edited(
    body,
    edits.toSorted((one, other) => one.start - other.start),
  );
}

function edited(body: Uint8Array, edits: readonly Edit[]): readonly Uint8Array[] {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const edit of edits) {
    parts.push(body.subarray(at, edit.start), ...edit.parts);
    at = edit.end;
  }
  return [...parts, body.subarray(at)];
}

/** Takes out the member whose value is at the span, with one of the commas beside it. */
function withoutMember(body: Uint8Array, [valueStart, valueEnd]: Span): Edit {
  const start = keyStart(body, valueStart);
  let next = valueEnd;
  while (body[next]! <= SPACE) next += 1;
  if (body[next] === COMMA) return { start, end: next + 1, parts: [] };
  return { start: body.lastIndexOf(COMMA, start), end: valueEnd, parts: [] };
}

/** Where the key of the value begins that begins at `valueStart`. No quote is inside of this key, also where it has escapes. */
function keyStart(body: Uint8Array, valueStart: number): number {
  return body.lastIndexOf(QUOTE, body.lastIndexOf(QUOTE, valueStart - 1) - 1);
}
