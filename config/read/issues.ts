import type { OptionSchema, SchemaIssue } from "../../core/contract/options.ts";
import { keysAt } from "./json-schema.ts";
import { describe, describeKind, didYouMean, type Path, quoted, type Report, unknownKey } from "./problems.ts";
import { isSecretPath } from "./secret.ts";

/** An issue with zod's own fields; other schema libraries leave them out. */
export interface DetailedIssue extends SchemaIssue {
  readonly code?: string;
  readonly keys?: readonly string[];
  readonly expected?: string;
  readonly values?: readonly unknown[];
  readonly origin?: string;
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
  readonly errors?: readonly (readonly DetailedIssue[])[];
}

interface Subject {
  readonly schema: OptionSchema<unknown>;
  /** The validated value; `path` is its place in the document. */
  readonly value: unknown;
  readonly base: Path;
  readonly report: Report;
  /** No value is quoted. */
  readonly isSecret?: boolean;
}

/** Reports what was found and wanted for each issue, at its node. */
export function reportIssues(issues: readonly DetailedIssue[], subject: Subject): void {
  for (const issue of issues) reportIssue(issue, stepsOf(issue), subject);
}

/** An issue's path as keys and indexes. */
export function stepsOf(issue: SchemaIssue): Path {
  return (issue.path ?? []).map((step) => {
    const key = typeof step === "object" ? step.key : step;
    return typeof key === "symbol" ? String(key) : key;
  });
}

function reportIssue(issue: DetailedIssue, steps: Path, subject: Subject): void {
  const path = [...subject.base, ...steps];
  if (issue.code === "unrecognized_keys") {
    const known = keysAt(subject.schema, steps);
    const wanted = known.length === 0 ? "no key of that name" : `one of: ${known.join(", ")}`;
    for (const key of issue.keys ?? [])
      subject.report([...path, key], { found: unknownKey(key), wanted, hint: () => didYouMean(key, known) }, "key");
    return;
  }
  const branch = issue.code === "invalid_union" ? likeliestBranch(issue.errors ?? []) : undefined;
  if (branch !== undefined) {
    for (const inner of branch) reportIssue(inner, [...steps, ...stepsOf(inner)], subject);
    return;
  }
  const value = valueAt(subject.value, steps);
  // A document that is no mapping at all may be a file of secrets.
  const shown = subject.isSecret || path.length === 0 || isSecretPath(path) ? describeKind(value) : describe(value);
  const found = value === undefined && steps.length > 0 ? `no ${quoted(String(steps.at(-1)))}` : shown;
  const hint = isMappingWanted(issue, value) ? keysHint(keysAt(subject.schema, steps)) : hintFor(issue, value);
  subject.report(path, { found, wanted: wantedBy(issue), hint });
}

const isMappingWanted = ({ expected }: DetailedIssue, value: unknown) => expected === "object" && typeof value === "string";

function keysHint(keys: readonly string[]): string {
  return keys.length === 0 ? "" : `Write { KEY: VALUE } with keys of: ${keys.join(", ")}.`;
}

/** The branch of a union with the right type, if there is one; its issues are inside the value. */
function likeliestBranch(branches: readonly (readonly DetailedIssue[])[]): readonly DetailedIssue[] | undefined {
  const isInside = ({ path = [], code }: DetailedIssue) => path.length > 0 || code === "unrecognized_keys";
  return branches.find((issues) => issues.length > 0 && issues.every(isInside));
}

function valueAt(root: unknown, steps: Path): unknown {
  let value = root;
  for (const step of steps) {
    const isThere = typeof value === "object" && value !== null && Object.hasOwn(value, step);
    value = isThere ? (value as Record<string | number, unknown>)[step] : undefined;
  }
  return value;
}

function hintFor(issue: DetailedIssue, value: unknown): string {
  if (issue.expected === "string" && (typeof value === "number" || typeof value === "boolean")) return "Put it in quotes.";
  if (typeof value !== "string") return "";
  if (issue.code === "invalid_union") return hintFor(issue.errors?.[0]?.[0] ?? { message: "" }, value);
  if (issue.expected === "number" || issue.expected === "int") return numberHint(value);
  return issue.code === "invalid_value" ? didYouMean(value, (issue.values ?? []).map(String)) : "";
}

/** For a text where a number is wanted. What other readers of YAML take for a number gets no guess at its value. */
function numberHint(text: string): string {
  if (/^[-+]?0\d+$/.test(text)) return "Write it without the leading zero.";
  if (/^[-+]?[\d_]*\d_[\d_]*$/.test(text)) return "Write it without _.";
  if (/^[-+]?0b[01_]+$|^[-+]?\d+(:[0-5]?\d)+$/.test(text)) return "Write it in decimal.";
  return text.trim() !== "" && Number.isFinite(Number(text)) ? "Remove the quotes." : "";
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "a mapping",
  record: "a mapping",
};

/** What is wanted: the schema's own message if it has one, else ours. */
function wantedBy(issue: DetailedIssue): string {
  const isStockWording = /^(Invalid|Too |Unrecognized)/.test(issue.message);
  if (!isStockWording) return issue.message;
  switch (issue.code) {
    case "invalid_type":
      return TYPE_WORDS[issue.expected ?? ""] ?? `${issue.expected}`;
    case "invalid_value":
      return oneOf((issue.values ?? []).map(describe));
    case "too_small":
      return `at least ${issue.minimum}${unitOf(issue, issue.minimum)}`;
    case "too_big":
      return `at most ${issue.maximum}${unitOf(issue, issue.maximum)}`;
    case "invalid_union":
      return oneOf((issue.errors ?? []).flatMap((branch) => branch.slice(0, 1).map(wantedBy)));
    default:
      return `something else (${issue.message})`;
  }
}

const oneOf = (words: readonly string[]) => [...new Set(words)].join(" or ");

function unitOf(issue: DetailedIssue, count: number | bigint | undefined): string {
  if (issue.origin === "array" || issue.origin === "set") return count === 1 ? " item" : " items";
  if (issue.origin === "string") return count === 1 ? " character" : " characters";
  return "";
}
