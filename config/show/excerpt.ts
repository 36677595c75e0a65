import { printable } from "../../core/contract/printable.ts";
import { cut, widthOf } from "../../core/report/text-width.ts";
import type { Problem } from "../read/problems.ts";

/** Of a line's text. */
const MOST_COLUMNS = 100;
/** So much of a long line stands before the place. */
const COLUMNS_BEFORE = 40;
/** Values of such keys may be secrets, and so may what stands before the "@" of a URL. */
const MAY_BE_SECRET =
  /\b(bearer|tokens?|secrets?|pass(word|phrase)?|pwd|auth|api[-_]?key|keys?|authorization)\b["']?\s*[:=]|:\/\/[^/\s]*@/i;

/** The line of the file that a problem is in, and below it a mark at the place; nothing where there is none, or where it may hold a secret. */
export function excerptOf({ line, column }: Problem, text: string | undefined): readonly string[] {
  const written = line === 0 ? undefined : text?.split(/\r?\n/, line)[line - 1];
  if (written === undefined || written.trim() === "" || MAY_BE_SECRET.test(written)) return [];
  const shown = printable(written);
  const at = Math.max(0, column - 1);
  const isLong = widthOf(shown) > MOST_COLUMNS && widthOf(shown.slice(0, at)) > COLUMNS_BEFORE;
  const start = isLong ? at - COLUMNS_BEFORE : 0;
  const before = (isLong ? "…" : "") + shown.slice(start, at);
  const number = String(line);
  const margin = " ".repeat(number.length);
  return [`    ${number} | ${cut(before + shown.slice(at), MOST_COLUMNS)}`, `    ${margin} | ${" ".repeat(widthOf(before))}^`];
}
