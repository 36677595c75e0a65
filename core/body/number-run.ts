/** State of the number grammar; 0 means that the byte can't follow. A state is kept, because a chunk may end inside a number. */
export type NumberState = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** Before the first digit; a minus sign was read already, if there is one. */
export const NUMBER_START: NumberState = 1;
const ZERO = 2;
const INTEGER = 3;
const AFTER_POINT = 4;
const FRACTION = 5;
const AFTER_E = 6;
const AFTER_SIGN = 7;
const EXPONENT = 8;

const COMMA = 0x2c;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/** Whether a number may end in this state. */
export function isWholeNumber(state: NumberState): boolean {
  return state === ZERO || state === INTEGER || state === FRACTION || state === EXPONENT;
}

/** The state after one more byte. */
export function afterNumberByte(state: NumberState, byte: number): NumberState {
  if (isDigit(byte)) return afterDigit(state, byte);
  if (byte === 0x2e) return state === ZERO || state === INTEGER ? AFTER_POINT : 0;
  if (byte === 0x65 || byte === 0x45) return state === ZERO || state === INTEGER || state === FRACTION ? AFTER_E : 0;
  return state === AFTER_E && (byte === 0x2b || byte === 0x2d) ? AFTER_SIGN : 0;
}

function afterDigit(state: NumberState, digit: number): NumberState {
  if (state === INTEGER || state === FRACTION || state === EXPONENT) return state;
  if (state === NUMBER_START) return digit === DIGIT_0 ? ZERO : INTEGER;
  if (state === AFTER_POINT) return FRACTION;
  return state === AFTER_E || state === AFTER_SIGN ? EXPONENT : 0;
}

/** Index after the digits that begin at `from`. */
export function digitsEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && isDigit(bytes[at]!)) at++;
  return at;
}

/**
 * Index after the last comma of a run like "17,4, 2026,"; `from` if there is none. Prompts of token ids are such lists, and this
 * is three times as fast as scanning each value. A number that begins with 0 ends the run: the number grammar checks it.
 */
export function integerRunEnd(bytes: Uint8Array, from: number, end: number): number {
  let done = from;
  while (done < end) {
    let start = done;
    while (start < end && bytes[start] === 0x20) start++;
    const stop = digitsEnd(bytes, start, end);
    if (stop === start || stop === end || bytes[stop] !== COMMA || bytes[start] === DIGIT_0) break;
    done = stop + 1;
  }
  return done;
}

function isDigit(byte: number): boolean {
  return byte >= DIGIT_0 && byte <= DIGIT_9;
}
