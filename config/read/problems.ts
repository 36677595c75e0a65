import { closestName } from "../../core/report/closest-name.ts";
import type { Position } from "../../core/router-config.ts";

/** One problem in the config and how to fix it. */
export interface Problem extends Position {
  /** Place in the document, such as "spec.pool.endpoints[0].url"; "" if there is none. */
  readonly path: string;
  readonly found: string;
  /** "" if `found` is enough. */
  readonly wanted: string;
  /** A whole sentence, or "". */
  readonly hint: string;
  /** How much of its document comes to nothing, since another one goes first. */
  readonly conflict?: "part" | "whole";
}

/** Keys and list indexes from a document's root to a node. */
export type Path = readonly (string | number)[];

/** A problem without its place. */
export interface Finding {
  readonly found: string;
  readonly wanted?: string;
  /** A function where it takes long to find: it is called for the first problems only. */
  readonly hint?: string | (() => string);
}

/** Reports a problem at a node, or at its key. */
export type Report = (path: Path, finding: Finding, part?: "value" | "key") => void;

const MOST_SHOWN = 50;
/** A few more than are shown. */
const MOST_HINTED = 100;
/** Candidates that a word is compared with: each takes some microseconds. */
const MOST_COMPARED = 1_000;
/** A shorter word is the beginning of too much. */
const LEAST_BEGINNING = 3;

export function problemAt({ file, line, column }: Position, path: Path, { found, wanted = "", hint = "" }: Finding): Problem {
  return { file, line, column, path: pathText(path), found, wanted, hint: typeof hint === "function" ? hint() : hint };
}

/** Adds a problem. Looks for hints as long as there are few problems: each name that is compared with thousands takes milliseconds. */
export function addProblem(problems: Problem[], position: Position, path: Path, { hint = "", ...finding }: Finding): void {
  const isHinted = typeof hint === "string" || problems.length < MOST_HINTED;
  problems.push(problemAt(position, path, { ...finding, hint: isHinted ? hint : "" }));
}

/** The place of what concerns a whole file. */
export function allOf(file: string): Position {
  return { file, line: 0, column: 0 };
}

/** `file:line:column  path  message`, on one line. */
export function formatProblem(problem: Problem): string {
  const wanted = problem.wanted && `; wanted ${problem.wanted}`;
  const hint = problem.hint && ` ${problem.hint}`;
  return [placeText(problem), problem.path, `found ${problem.found}${wanted}.${hint}`].filter(Boolean).join("  ");
}

/** The problems, one per line, and their number. The first 50 are shown, each with the lines that `below` returns for it. */
export function formatProblems(problems: readonly Problem[], below: (problem: Problem) => readonly string[] = () => []): string {
  const count = problems.length;
  const more = count > MOST_SHOWN ? [`… and ${count - MOST_SHOWN} more`] : [];
  return [
    ...problems.slice(0, MOST_SHOWN).flatMap((each) => [formatProblem(each), ...below(each)]),
    ...more,
    count === 1 ? "1 problem" : `${count} problems`,
  ].join("\n");
}

const UNKNOWN_KEY = "the unknown key ";

/** What is found where nobody knows a key. */
export function unknownKey(key: string): string {
  return `${UNKNOWN_KEY}${quoted(key)}`;
}

/**
 * Sorts by line within each file; the files stay in the given order. Unknown keys come before all others, since a misspelled key is the
 * cause of much that is missing or names nothing elsewhere.
 */
export function inReadingOrder(problems: readonly Problem[], files: readonly string[]): readonly Problem[] {
  const rank = new Map(files.map((file, index) => [file, index]));
  const rankOf = (problem: Problem) => rank.get(problem.file) ?? -1;
  const isFirst = ({ found }: Problem) => Number(found.startsWith(UNKNOWN_KEY));
  return [...problems].sort((a, b) => isFirst(b) - isFirst(a) || rankOf(a) - rankOf(b) || a.line - b.line || a.column - b.column);
}

/** file:line:column, or the file alone for all of it; undefined for no place in any file. */
export function placeText(position: Position | undefined): string | undefined {
  if (position === undefined || position.file === "") return undefined;
  const { file, line, column } = position;
  return line === 0 ? file : `${file}:${line}:${column}`;
}

/** A value from a file for a message: short, on one line, with its type visible. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return "a mapping";
  return String(value);
}

/** The same without the value itself, which may be a secret. */
export function describeKind(value: unknown): string {
  return typeof value === "string" ? "text" : typeof value === "number" ? "a number" : describe(value);
}

/** The text in double quotes, shortened to fit on a line. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);
}

/** Such as "spec.pool.endpoints[0].url". */
export function pathText(path: Path): string {
  const steps = path.map((step, index) => {
    if (typeof step === "number") return `[${step}]`;
    if (!/^[\w$-]+$/.test(step)) return `[${quoted(step)}]`;
    return index === 0 ? step : `.${step}`;
  });
  return steps.join("");
}

/** A hint that names the candidate most similar to a mistyped word, or the only one that begins with it; "" when there is none. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const all = [...candidates];
  const begun = word.length < LEAST_BEGINNING ? [] : all.filter((each) => each.toLowerCase().startsWith(word.toLowerCase()));
  const closest = begun.length === 1 ? begun[0] : closestName(word, all, MOST_COMPARED);
  return closest === undefined ? "" : `Did you mean ${quoted(closest)}?`;
}

/** Whether a value is a mapping: an object that is no list. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
