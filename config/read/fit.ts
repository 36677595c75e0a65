import type { z } from "../../core/contract/options.ts";
import { type ConfigDocument, isContainer, type Place } from "./documents.ts";
import { type DetailedIssue, reportIssues, stepsOf } from "./issues.ts";
import type { Path } from "./problems.ts";

/** A document that fits its schema, with its positions. Paths are those of `document`, whose lists may be shorter than the file's. */
export interface Resource<Document> extends Place {
  readonly document: Document;
  /** Whether something at, above or below this path was left out because of a problem, which is already reported. */
  readonly wasCut: (path: Path) => boolean;
}

/** Values that stand in for required ones with problems, by their path in which "*" is any list index: "rules.*.name". */
export type Stubs = Readonly<Record<string, unknown>>;

const MOST_ROUNDS = 100;

/**
 * Validates a document. What does not fit is reported and left out, as little as possible, so that the meaning of the rest can be
 * checked in the same pass. Undefined when nothing usable is left. `isSecret`: no value of it is ever quoted.
 */
export function fit<Document>(
  { file, value, positionOf, report }: ConfigDocument,
  schema: z.ZodType<Document>,
  stubs: Stubs = {},
  isSecret = false,
): Resource<Document> | undefined {
  const first = schema.safeParse(value);
  if (first.success) return { file, document: first.data, positionOf, report, wasCut: () => false };
  reportIssues(first.error.issues, { schema, value, base: [], report, isSecret });
  const rest = new Remainder(value, stubs);
  let issues: readonly DetailedIssue[] = first.error.issues;
  // Each round leaves something out; when that was required, the next one leaves out what it was required for.
  for (let round = 0; round < MOST_ROUNDS && rest.leaveOut(issues); round++) {
    const next = schema.safeParse(rest.value);
    if (!next.success) {
      issues = next.error.issues;
      continue;
    }
    return {
      file,
      document: next.data,
      positionOf: (path, part) => positionOf(rest.inFile(path), part),
      report: (path, finding, part) => report(rest.inFile(path), finding, part),
      wasCut: (path) => rest.wasCut(path),
    };
  }
  return undefined;
}

/** A copy of a document from which values are taken, and which knows where in the file each list item was. */
class Remainder {
  value: unknown;
  readonly #whole: unknown;
  readonly #stubs: Stubs;
  /** By list: the index in the file of each item that is left. */
  readonly #indexes = new Map<unknown, readonly number[]>();
  /** Paths in the file, as keys: of what was taken, of what was taken because of a problem, and of everything around that. */
  readonly #taken = new Set<string>();
  readonly #cuts = new Set<string>();
  readonly #around = new Set<string>();

  constructor(value: unknown, stubs: Stubs) {
    this.value = value;
    this.#whole = value;
    this.#stubs = stubs;
  }

  /** Takes out what the issues are about. Returns false if that is the whole document. */
  leaveOut(issues: readonly DetailedIssue[]): boolean {
    // An unknown key says nothing about its neighbours, so it is not remembered as a cut.
    const unknown = issues.flatMap((issue) => (issue.keys ?? []).map((key) => this.inFile([...stepsOf(issue), key])));
    const others = issues.filter(({ code }) => code !== "unrecognized_keys");
    const blamed = others.map((issue) => this.inFile(this.#existing(stepsOf(issue))));
    if (blamed.some((path) => path.length === 0)) return false;
    for (const path of [...unknown, ...blamed]) this.#taken.add(keyOf(path));
    for (const path of blamed) {
      this.#cuts.add(keyOf(path));
      for (let depth = 0; depth <= path.length; depth++) this.#around.add(keyOf(path.slice(0, depth)));
    }
    this.value = this.#rest(this.#whole, []);
    return true;
  }

  wasCut(path: Path): boolean {
    const inFile = this.inFile(path);
    return this.#around.has(keyOf(inFile)) || inFile.some((_, depth) => this.#cuts.has(keyOf(inFile.slice(0, depth + 1))));
  }

  /** The same place in the file. */
  inFile(path: Path): Path {
    let node: unknown = this.value;
    return path.map((step) => {
      const index = typeof step === "number" ? (this.#indexes.get(node)?.[step] ?? step) : step;
      node = isContainer(node) ? node[step] : undefined;
      return index;
    });
  }

  /** The path up to its last node that exists; a missing key that has a stub counts as one. */
  #existing(path: Path): Path {
    let node: unknown = this.value;
    for (const [depth, step] of path.entries()) {
      if (!isContainer(node)) return path.slice(0, depth);
      if (!Object.hasOwn(node, step)) return path.slice(0, this.#hasStub(path.slice(0, depth + 1)) ? depth + 1 : depth);
      node = node[step];
    }
    return path;
  }

  /** What is left of the value at a path of the file. */
  #rest(value: unknown, path: Path): unknown {
    if (!isContainer(value)) return value;
    const names = Object.keys(this.#stubs).map((pattern) => pattern.slice(pattern.lastIndexOf(".") + 1));
    const keys = Array.isArray(value) ? [...value.keys()] : [...new Set([...Object.keys(value), ...names])];
    const left = keys.flatMap((key) => {
      const at = [...path, key];
      const isTaken = this.#taken.has(keyOf(at));
      if (isTaken && this.#hasStub(at)) return [[key, this.#stubs[patternOf(at)]] as const];
      return isTaken || !Object.hasOwn(value, key) ? [] : [[key, this.#rest(value[key], at)] as const];
    });
    if (!Array.isArray(value)) return Object.fromEntries(left);
    const list = left.map(([, item]) => item);
    this.#indexes.set(
      list,
      left.map(([index]) => Number(index)),
    );
    return list;
  }

  #hasStub(path: Path): boolean {
    return Object.hasOwn(this.#stubs, patternOf(path));
  }
}

function patternOf(path: Path): string {
  return path.map((step) => (typeof step === "number" ? "*" : step)).join(".");
}

function keyOf(path: Path): string {
  return JSON.stringify(path);
}
