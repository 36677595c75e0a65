// What the last bytes of a response say of its generation. Inside a JSON string quotes are escaped, so generated text can't be
// mistaken for a key.

/** Text that a model generated, in the events of the APIs that are served: answers, reasoning, arguments of tools. */
const TEXT = /"(?:content|reasoning_content|reasoning|text|delta|thinking|arguments|partial_json)" ?: ?"((?:[^"\\]|\\.)+)"/g;
/** A token of English has about 4.5 bytes. A little more here, because events of one token each must not count as more. */
const BYTES_PER_TOKEN = 5;
/** About the bytes of an event around its text, where none can be looked at. */
const USUAL_ENVELOPE = 240;
const EVENT_END = /\n\r?\n/;

const WORD = / ?: ?"([A-Za-z_-]{1,40})"/y;
const INDEX = '"index"';
const FIRST = / ?: ?0\b/y;

/** Why the generation of the first choice ended; "" if `tail`, the end of the response, does not say. */
export function finishReasonIn(tail: string): string {
  const reason = reasonOfFirst(tail);
  if (reason !== "") return reason;
  // The responses API has a status, and a reason only for what is incomplete.
  return lastWord(tail, '"stop_reason"') || lastWord(tail, '"incomplete_details":{"reason"') || lastWord(tail, '"status"');
}

/** Each of several choices says its own reason, behind its index; most responses have one. */
function reasonOfFirst(tail: string): string {
  const key = '"finish_reason"';
  let last = "";
  for (let at = tail.lastIndexOf(key); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf(key, at - 1)) {
    const reason = wordAt(tail, at + key.length);
    if (reason === "") continue;
    const index = tail.lastIndexOf(INDEX, at);
    FIRST.lastIndex = index + INDEX.length;
    if (index < 0 || FIRST.test(tail)) return reason;
    if (last === "") last = reason;
  }
  return last;
}

function lastWord(tail: string, key: string): string {
  const at = tail.lastIndexOf(key);
  return at < 0 ? "" : wordAt(tail, at + key.length);
}

function wordAt(tail: string, at: number): string {
  WORD.lastIndex = at;
  return WORD.exec(tail)?.[1] ?? "";
}

/**
 * Estimates the tokens of a stream: one for each event with text, and more where its events have more text than one token has.
 * What its events look like is read from the last ones.
 *
 * @param tail - the end of the stream, in Latin 1, so that its length is in bytes
 * @param events - all events that have ended
 * @param bytes - of the whole stream
 */
export function estimateTokens(tail: string, events: number, bytes: number): number {
  const pieces = tail.split(EVENT_END);
  // What comes last has not ended; what comes first may lack its beginning, unless the tail is the whole stream.
  const shown = pieces.slice(bytes > tail.length ? 1 : 0, -1);
  let silent = 0;
  let silentBytes = 0;
  let envelopes = 0;
  for (const event of shown) {
    const textBytes = textBytesIn(event);
    const bytesWithEnd = event.length + 2;
    if (textBytes > 0) envelopes += bytesWithEnd - textBytes;
    else {
      silent += 1;
      silentBytes += bytesWithEnd;
    }
  }
  const speaking = Math.max(0, events - silent);
  const envelope = shown.length === silent ? USUAL_ENVELOPE : envelopes / (shown.length - silent);
  const textBytes = bytes - silentBytes - speaking * envelope;
  return speaking === 0 ? 0 : Math.max(speaking, Math.round(textBytes / BYTES_PER_TOKEN));
}

function textBytesIn(event: string): number {
  let bytes = 0;
  for (const match of event.matchAll(TEXT)) bytes += match[1]!.length;
  return bytes;
}
