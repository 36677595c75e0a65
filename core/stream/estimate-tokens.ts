/** Text that a model generated, in the events of the APIs that are served: answers, reasoning, arguments of tools. */
const TEXT = /"(?:content|reasoning_content|reasoning|text|delta|thinking|arguments|partial_json)" ?: ?"((?:[^"\\]|\\.)+)"/g;
/** Of the text of several tokens; English has about 4.5. */
const BYTES_PER_TOKEN = 5;
/** More text in an event than this, on average, is more than one token; other scripts than Latin have up to ten bytes in a token. */
const MOST_BYTES_OF_ONE = 10;
/** About the bytes of an event around its text, where none can be looked at. */
const USUAL_ENVELOPE = 240;
const EVENT_END = /\n\r?\n/g;
/** Lines that keep a connection open; they are no event. */
const ONLY_COMMENTS = /^(?::[^\n]*(?:\n|$))+$/;

/**
 * Estimates the tokens of a stream: one for each event with text, and more where its events have more text than one token has.
 * What its events look like is read from the last ones.
 *
 * @param tail - the end of the stream, in Latin 1, so that its length is in bytes
 * @param events - all events that have ended
 * @param bytes - of the whole stream
 */
export function estimateTokens(tail: string, events: number, bytes: number): number {
  let spoke = 0;
  let silent = 0;
  let silentBytes = 0;
  let envelopes = 0;
  let start = 0;
  // What comes last has not ended. With `exec`, because `split` and `matchAll` make a copy of the expression at each call.
  EVENT_END.lastIndex = 0;
  for (let end = EVENT_END.exec(tail); end !== null; end = EVENT_END.exec(tail)) {
    const event = tail.slice(start, end.index);
    const isFirst = start === 0;
    start = EVENT_END.lastIndex;
    // It may lack its beginning, unless the tail is the whole stream.
    if (isFirst && bytes > tail.length) continue;
    const textBytes = textBytesIn(event);
    const bytesWithEnd = event.length + 2;
    if (textBytes > 0) {
      spoke += 1;
      envelopes += bytesWithEnd - textBytes;
    } else {
      if (!ONLY_COMMENTS.test(event)) silent += 1;
      silentBytes += bytesWithEnd;
    }
  }
  const speaking = Math.max(0, events - silent);
  const envelope = spoke === 0 ? USUAL_ENVELOPE : envelopes / spoke;
  const textBytes = bytes - silentBytes - speaking * envelope;
  return textBytes > speaking * MOST_BYTES_OF_ONE ? Math.round(textBytes / BYTES_PER_TOKEN) : speaking;
}

function textBytesIn(event: string): number {
  let bytes = 0;
  TEXT.lastIndex = 0;
  for (let match = TEXT.exec(event); match !== null; match = TEXT.exec(event)) bytes += match[1]!.length;
  return bytes;
}
