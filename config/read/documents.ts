import { Composer, type Document, isAlias, isMap, isScalar, isSeq, LineCounter, Parser } from "yaml";
import type { ConfigText } from "./files.ts";
import { isTooDeep, MOST_LEVELS } from "./nesting.ts";
import { allOf, type Finding, type Path, type Position, type Problem, problemAt, quoted, type Report } from "./problems.ts";
import { expanded, plainValue } from "./references.ts";

/** A document's file, and where its values are in it. */
export interface Place {
  readonly file: string;
  /** The position of the node at a path, or of its deepest ancestor that exists. */
  readonly positionOf: (path: Path, part?: "value" | "key") => Position;
  /** Reports a problem at the position of a path. */
  readonly report: Report;
}

/** One YAML or JSON document as plain data. */
export interface ConfigDocument extends Place {
  readonly value: unknown;
}

type Token = Parameters<Composer["next"]>[0];
type Node = Document.Parsed["contents"];
type NodePair = { readonly key: Node; readonly value: Node };

/** Offsets of a container's entries in the text. */
type Entries = Map<string | number, { readonly key: number; readonly value: number }>;

interface Converted {
  readonly value: unknown;
  /** Number of nodes in it; an alias counts as the nodes it refers to. */
  readonly size: number;
  readonly offset: number;
}

/** Control characters. The library's messages quote the file, but a problem must stay on one line. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;

const NESTED: Finding = { found: `more than ${MOST_LEVELS} levels of nesting`, wanted: "a flatter document" };
const MOST_ALIASED_NODES = 100_000;

/** The documents of a file, or the resource of a cluster that stands for one. */
export function documentsOf({ file, text, resource }: ConfigText, problems: Problem[]): readonly ConfigDocument[] {
  if (resource === undefined) return readDocuments(file, text, problems);
  const document = plainDocument(file, resource, problems);
  if (!isTooDeep(resource)) return [document];
  document.report([], NESTED);
  return [];
}

/**
 * A document that comes from no file. A problem in it has no line: its path says where it is. Its texts mean what they say, so whoever
 * may write one learns nothing of the router's environment.
 */
export function plainDocument(file: string, value: unknown, problems: Problem[]): ConfigDocument {
  const position = allOf(file);
  return {
    file,
    value,
    positionOf: () => position,
    report: (path, finding) => problems.push(problemAt(position, path, finding)),
  };
}

/**
 * Reads the documents in a YAML or JSON text. Appends errors to `problems` and leaves out the documents that have any. `hasReferences`: whether
 * ${NAME} stands for an environment variable.
 */
export function readDocuments(file: string, text: string, problems: Problem[], hasReferences = true): readonly ConfigDocument[] {
  const lines = new LineCounter();
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  const reportAt: ReportAt = (offset, finding) => problems.push(problemAt(positionAt(offset), [], finding));
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const tooDeep = firstTokenBelow(tokens, MOST_LEVELS);
  if (tooDeep !== undefined) {
    reportAt(tooDeep.offset, NESTED);
    return [];
  }
  const lineAt = (offset: number) => text.slice(text.lastIndexOf("\n", offset - 1) + 1).split("\n", 1)[0] ?? "";
  const hintAt = (offset: number) => (lineAt(offset).includes("${") ? REFERENCE_HINT : "");
  return compose(tokens, reportAt, hintAt).flatMap((document) => {
    const before = problems.length;
    const located = new Locator(document.contents, reportAt, hasReferences);
    // A document with an unset variable is read on, for its other problems.
    if (problems.length > before + located.unfilled.size || located.value === null) return [];
    const positionOf = (path: Path, part: "value" | "key" = "value") => positionAt(located.offsetOf(path, part));
    const report: Report = (path, finding, part = "value") => {
      if (!located.unfilled.has(located.offsetOf(path, part))) problems.push(problemAt(positionOf(path, part), path, finding));
    };
    return [{ file, value: located.value, positionOf, report }];
  });
}

const REFERENCE_HINT = `Inside { } and [ ], YAML takes \${NAME} only in quotes, as a text; write a number such as port: \${PORT} on a line of its own.`;

type ReportAt = (offset: number, finding: Finding) => void;

/** The documents without syntax errors; reports the errors of the others. */
function compose(tokens: readonly Token[], reportAt: ReportAt, hintAt: (offset: number) => string): readonly Document.Parsed[] {
  // The Locator finds duplicate keys; the library would compare each key with every other one.
  const composer = new Composer({ schema: "core", prettyErrors: false, uniqueKeys: false });
  const documents = [...composer.compose(tokens)];
  const faults = documents.length === 0 ? [composer.streamInfo()] : documents;
  for (const { errors, warnings } of faults) {
    for (const { pos, message, code } of [...errors, ...warnings]) {
      const hint = code === "TAB_AS_INDENT" ? "Indent with spaces." : hintAt(pos[0]);
      reportAt(pos[0], { found: `invalid YAML: ${message.replace(CONTROLS, "?")}`, hint });
    }
  }
  return documents.filter(({ errors, warnings }) => errors.length + warnings.length === 0);
}

/** The library composes recursively, so limit the depth before that, without recursion. */
function firstTokenBelow(tokens: readonly Token[], depth: number): Token | undefined {
  let level: Token[] = tokens.flatMap((token) => (token.type === "document" && token.value ? [token.value] : []));
  for (let reached = 0; reached < depth; reached++) {
    const items = level.flatMap((token) => ("items" in token ? token.items : []));
    level = items.flatMap(({ key, value }) => [key, value].filter((child) => !!child));
  }
  return level[0];
}

/** Converts nodes to plain data and keeps the offset of every entry. */
class Locator {
  /** Offsets of texts whose variables have no value: that is reported, so nothing else about them is. */
  readonly unfilled = new Set<number>();
  readonly #reportAt: ReportAt;
  readonly #hasReferences: boolean;
  readonly #entriesOf = new WeakMap<object, Entries>();
  /** The value of each anchor so far; undefined while its own node is being converted. */
  readonly #anchors = new Map<string, Converted | undefined>();
  readonly #root: Converted;
  #aliasedNodes = 0;

  constructor(contents: Node, reportAt: ReportAt, hasReferences: boolean) {
    this.#reportAt = reportAt;
    this.#hasReferences = hasReferences;
    this.#root = this.#convert(contents, 0);
  }

  get value(): unknown {
    return this.#root.value;
  }

  /** The offset of the node at a path, or of its deepest ancestor that exists. */
  offsetOf(path: Path, part: "value" | "key"): number {
    let offset = this.#root.offset;
    let container = this.#root.value;
    for (const [index, step] of path.entries()) {
      if (!isContainer(container)) return offset;
      const entry = this.#entriesOf.get(container)?.get(step);
      if (entry === undefined) return offset;
      offset = index === path.length - 1 ? entry[part] : entry.value;
      container = container[step];
    }
    return offset;
  }

  #convert(node: Node, offsetIfNull: number): Converted {
    if (node === null) return { value: null, size: 1, offset: offsetIfNull };
    if (isAlias(node)) return this.#resolve(node.source, node.range[0]);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, undefined);
    const converted = this.#convertOwn(node);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, converted);
    return converted;
  }

  #convertOwn(node: NonNullable<Node>): Converted {
    const offset = node.range[0];
    if (isMap(node)) return this.#convertMap(node.items as readonly NodePair[], offset);
    if (isSeq(node)) return this.#convertList(node.items as readonly Node[], offset);
    return { value: isScalar(node) ? this.#scalar(node.value, node.type === "PLAIN", offset) : null, size: 1, offset };
  }

  /** A text may refer to environment variables. Without quotes around it, the result may be a number. */
  #scalar(value: unknown, isPlain: boolean, offset: number): unknown {
    if (typeof value !== "string" || !this.#hasReferences) return value;
    const { text, isChanged, problem } = expanded(value, process.env);
    if (problem !== undefined) {
      this.#reportAt(offset, problem);
      this.unfilled.add(offset);
    }
    return isChanged && isPlain ? plainValue(text) : text;
  }

  #convertMap(pairs: readonly NodePair[], offset: number): Converted {
    const entries: Entries = new Map();
    const values = new Map<string, unknown>();
    let size = 1;
    for (const pair of pairs) {
      const keyOffset = pair.key?.range[0] ?? offset;
      const key = this.#readKey(pair.key, keyOffset);
      if (entries.has(key)) this.#reportAt(keyOffset, { found: `the key ${quoted(key)} a second time`, wanted: "each key once" });
      const child = this.#convert(pair.value, keyOffset);
      entries.set(key, { key: keyOffset, value: pair.value?.range[0] ?? keyOffset });
      values.set(key, child.value);
      size += child.size;
    }
    const value = Object.fromEntries(values);
    this.#entriesOf.set(value, entries);
    return { value, size, offset };
  }

  #convertList(items: readonly Node[], offset: number): Converted {
    const children = items.map((item) => this.#convert(item, offset));
    const value = children.map((child) => child.value);
    const offsets = items.map((item) => item?.range[0] ?? offset);
    this.#entriesOf.set(value, new Map(offsets.map((at, index) => [index, { key: at, value: at }])));
    return { value, size: children.reduce((sum, child) => sum + child.size, 1), offset };
  }

  #readKey(key: Node, offset: number): string {
    if (isScalar(key) && typeof key.value === "string") return key.value;
    if (isScalar(key) && key.value !== null) return key.source;
    this.#reportAt(offset, { found: "a key that is not text", wanted: "a plain name before the colon" });
    return "";
  }

  #resolve(anchor: string, offset: number): Converted {
    const nothing: Converted = { value: null, size: 1, offset };
    const target = this.#anchors.get(anchor);
    if (target === undefined) {
      const isInside = this.#anchors.has(anchor);
      const found = `the alias *${anchor} ${isInside ? "inside its own anchor" : `without an anchor &${anchor} above it`}`;
      this.#reportAt(offset, { found });
      return nothing;
    }
    const wasWithin = this.#aliasedNodes <= MOST_ALIASED_NODES;
    this.#aliasedNodes += target.size;
    if (this.#aliasedNodes <= MOST_ALIASED_NODES) return target;
    const found = `aliases that expand to more than ${MOST_ALIASED_NODES} values`;
    if (wasWithin) this.#reportAt(offset, { found, wanted: "fewer of them" });
    return nothing;
  }
}

/** Whether a value is a mapping or a list. */
export function isContainer(value: unknown): value is Record<string | number, unknown> {
  return typeof value === "object" && value !== null;
}
