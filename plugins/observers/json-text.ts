import { printable } from "../../core/contract/printable.ts";

/** Longer texts are cut. */
const MAX_LENGTH = 256;
/** What may have to be replaced or escaped: all but ASCII without control characters, quotes and backslashes. */
const NOT_PLAIN = /[^ !#-[\]-~]/;
/** Up to here the digits of a number of tenths can be cut apart by whole numbers. */
const MOST_TENTHS = 2 ** 31;

/** At most 256 characters of a text from outside, none of which can steer a terminal or begin another line. */
export function clean(text: string): string {
  return printable(text.slice(0, MAX_LENGTH));
}

/** What stands between the quotes of a JSON string: the cleaned text. Nearly all texts are plain, so nothing is made for them. */
export function jsonText(text: string): string {
  return text.length > MAX_LENGTH || NOT_PLAIN.test(text) ? JSON.stringify(clean(text)).slice(1, -1) : text;
}

/** A JSON number; null where there is none, and for NaN and the infinities. */
export function jsonNumber(value: number | undefined): string {
  return Number.isFinite(value) ? String(value) : "null";
}

/** The same, rounded to one decimal. Whole numbers are put together, because V8 takes long for the digits of a fraction. */
export function jsonTenths(value: number): string {
  const tenths = Math.round(value * 10);
  if (!(tenths >= 0 && tenths < MOST_TENTHS)) return jsonNumber(tenths / 10);
  const whole = Math.floor(tenths / 10);
  const rest = tenths - whole * 10;
  return rest === 0 ? String(whole) : `${whole}.${rest}`;
}

export function jsonBoolean(value: boolean | undefined): string {
  if (value === undefined) return "null";
  return value ? "true" : "false";
}

/** Makes ISO 8601 text of milliseconds since 1970. Many requests end in the same second: its text is kept. */
export function isoTimes(): (wallMs: number) => string {
  let secondMs = Number.NaN;
  let second = "";
  return (wallMs) => {
    if (!(wallMs >= secondMs && wallMs < secondMs + 1000)) {
      second = new Date(wallMs).toISOString().slice(0, -4);
      secondMs = Math.floor(wallMs / 1000) * 1000;
    }
    const ms = Math.floor(wallMs - secondMs);
    return `${second}${ms < 10 ? "00" : ms < 100 ? "0" : ""}${ms}Z`;
  };
}
