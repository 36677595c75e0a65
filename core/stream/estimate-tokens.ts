import { TEXT_MEMBERS } from "./text-members.ts";

const TEXT = new RegExp(`"(?:${TEXT_MEMBERS.join("|")})" ?: ?"((?:[^"\\\\]|\\\\.)+)"`, "g");
/** Of the text of several tokens; English has about 4.5. */
const BYTES_PER_TOKEN = 5;
/** More text in an event than this, on average, is more than one token; other scripts than Latin have up to ten bytes in a token. */
const MOST_BYTES_OF_ONE = 10;
const EVENT_END = /\n\r?\n/g;
/** Lines that keep a connection open; they are no event. */
const ONLY_COMMENTS = /^(?::[^\n]*(?:\n|$))+$/;

/**
 * Estimates the tokens of a stream: one for each event with text, and more where its events have more text than one token has.
 *
 * @param tail - the end of the stream, in Latin 1, so that its length is in bytes
 * @param events - all events that have ended
 * @param textBytes - of the whole stream; undefined where the tail is the whole stream
 */
export function estimateTokens(tail: string, events: number, textBytes: number | undefined): number {
  let silent = 0;
  let shownBytes = 0;
  let start = 0;
  // What comes last has not ended. With `exec`, because `split` and `matchAll` make a copy of the expression at each call.
  EVENT_END.lastIndex = 0;
  for (let end = EVENT_END.exec(tail); end !== null; end = EVENT_END.exec(tail)) {
    const event = tail.slice(start, end.index);
    const isFirst = start === 0;
    start = EVENT_END.lastIndex;
    // It may lack its beginning, unless the tail is the whole stream.
    if (isFirst && textBytes !== undefined) continue;
    const bytes = textBytesIn(event);
    shownBytes += bytes;
    if (bytes === 0 && !ONLY_COMMENTS.test(event)) silent += 1;
  }
  const speaking = Math.max(0, events - silent);
  const spoken = textBytes ?? shownBytes;
  return spoken > speaking * MOST_BYTES_OF_ONE ? Math.round(spoken / BYTES_PER_TOKEN) : speaking;
}

/** About the bytes of a document around its text. */
const USUAL_FRAME = 300;

/**
 * Estimates the generated tokens in a JSON document by the length of its text. Of a document that is longer than what is known of it, all
 * but a usual frame is taken for text.
 *
 * @param tail - the end of the document, in Latin 1
 */
export function estimateInDocument(tail: string, bytes: number): number {
  const textBytes = bytes <= tail.length ? textBytesIn(tail) : 0;
  // Without a text it may be the input of a tool, which is bare JSON in the messages API.
  return Math.ceil((textBytes > 0 ? textBytes : Math.max(0, bytes - USUAL_FRAME)) / BYTES_PER_TOKEN);
}

function textBytesIn(event: string): number {
  let bytes = 0;
  TEXT.lastIndex = 0;
  for (let match = TEXT.exec(event); match !== null; match = TEXT.exec(event)) bytes += match[1]!.length;
  return bytes;
}
