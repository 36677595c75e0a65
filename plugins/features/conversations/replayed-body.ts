import { RouterError } from "../../../core/contract/errors.ts";
import type { Span } from "../../../core/contract/span.ts";
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

/** What a request's `input` is: its items as they came, without the brackets around them. */
export interface InputItems {
  readonly items: readonly Uint8Array[];
  /** Of an input that is a text; else 0. */
  readonly textBytes: number;
}

/** The items of the input at `span`. Throws RouterError for one that is no input. */
export function inputItems(body: Uint8Array, span: Span | undefined): InputItems {
  if (span === undefined || body[span[0]] === SMALL_N) return { items: [], textBytes: 0 };
  const value = body.subarray(span[0], span[1]);
  if (value[0] === QUOTE) return { items: [BEFORE_TEXT, value, BEHIND_TEXT], textBytes: value.length };
  if (value[0] !== OPEN_LIST) throw new RouterError("invalid_value", 'The value of "input" must be a text or a list of items.');
  const items = listItems(value);
  return { items: items.length === 0 ? [] : [items], textBytes: 0 };
}

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
 * its own input; in parts. All bytes are as they came, but for those between the items.
 */
export function replayedBody(
  body: Uint8Array,
  previous: Span,
  input: Span | undefined,
  history: readonly Turn[],
): readonly Uint8Array[] {
  const earlier = history.filter(({ items }) => items.length > 0).flatMap(({ items }) => [items, NEXT]);
  const own = inputItems(body, input).items;
  if (own.length === 0) earlier.pop();
  const list = [LIST, ...earlier, ...own, LIST_END];
  const edits: readonly Edit[] =
    input === undefined
      ? [{ start: keyStart(body, previous[0]), end: previous[1], parts: [INPUT, ...list] }]
      : [withoutMember(body, previous), { start: input[0], end: input[1], parts: list }];
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
