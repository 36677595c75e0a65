import { Composer, type Document, isAlias, isMap, isScalar, isSeq, LineCounter, Parser, type Scalar, visit } from "yaml";
import type { Position } from "../../core/router-config.ts";
import { INDENTED_MARK, indentedMarks } from "./document-marks.ts";
import type { ConfigText } from "./files.ts";
import { isTooDeep, MOST_LEVELS } from "./nesting.ts";
import { addProblem, allOf, type Finding, type Path, type Problem, quoted, type Report } from "./problems.ts";
import { expanded, plainValue } from "./references.ts";

/** A file, and who is told of problems in it. */
export interface SourceFile {
  readonly file: string;
  /** Reports a problem at the position of a path. */
  readonly report: Report;
}

/** A document's file, and where its values are in it. */
export interface Place extends SourceFile {
  /** The position of the node at a path, or of its deepest ancestor that exists. */
  readonly positionOf: (path: Path, part?: "value" | "key") => Position;
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

/**
 * The library's messages quote the file, which may hold secrets: behind a colon, and in those about tags, escapes and directives. The
 * place of the problem says as much.
 */
const QUOTES: readonly (readonly [quote: RegExp, instead: string])[] = [
  [
    /^(Unresolved tag|Not a valid tag|Verbatim tags|Could not resolve tag|The .* tag has no suffix).*/s,
    "a tag that can't be resolved",
  ],
  [/^(Invalid escape sequence|Unknown directive|Unsupported YAML version).*/s, "$1"],
  [/(?<=\w): .*/s, ""],
];

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
    report: (path, finding) => addProblem(problems, position, path, finding),
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
  const reportAt: ReportAt = (offset, finding) => addProblem(problems, positionAt(offset), [], finding);
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const tooDeep = firstTokenBelow(tokens, MOST_LEVELS);
  if (tooDeep !== undefined) {
    reportAt(tooDeep.offset, NESTED);
    return [];
  }
  const marks = indentedMarks(text, tokens);
  for (const offset of marks) reportAt(offset, INDENTED_MARK);
  if (marks.length > 0) return [];
  const lineAt = (offset: number) => text.slice(text.lastIndexOf("\n", offset - 1) + 1).split("\n", 1)[0] ?? "";
  const hintAt = (offset: number) => (lineAt(offset).includes("${") ? REFERENCE_HINT : "");
  const beginHint = (offset: number | undefined) =>
    offset === undefined ? "" : `The ${text[offset]} begins in line ${positionAt(offset).line}.`;
  return compose(tokens, reportAt, hintAt, beginHint).flatMap((document) => {
    const before = problems.length;
    const located = new Locator(document.contents, reportAt, hasReferences);
    // A document with an unset variable or an ambiguous number is read on, for its other problems.
    if (problems.length > before + located.reported.size || located.value === null) return [];
    const positionOf = (path: Path, part: "value" | "key" = "value") => positionAt(located.offsetOf(path, part));
    const report: Report = (path, finding, part = "value") => {
      if (!located.reported.has(located.offsetOf(path, part))) addProblem(problems, positionOf(path, part), path, finding);
    };
    return [{ file, value: located.value, positionOf, report }];
  });
}

const REFERENCE_HINT = `Inside { } and [ ], YAML takes \${NAME} only in quotes, as a text; write a number such as port: \${PORT} on a line of its own.`;

type ReportAt = (offset: number, finding: Finding) => void;

/** The documents without syntax errors; reports the errors of the others. */
function compose(
  tokens: readonly Token[],
  reportAt: ReportAt,
  hintAt: (offset: number) => string,
  beginHint: (offset: number | undefined) => string,
): readonly Document.Parsed[] {
  // The Locator finds duplicate keys; the library would compare each key with every other one.
  const composer = new Composer({ schema: "core", prettyErrors: false, uniqueKeys: false });
  const documents = [...composer.compose(tokens)];
  const faults = documents.length === 0 ? [composer.streamInfo()] : documents;
  for (const fault of faults) {
    for (const { pos, message, code } of [...fault.errors, ...fault.warnings]) {
      const isOpen = /^(Flow|Expected flow)/.test(message) && "contents" in fault;
      const usual = () => hintAt(pos[0]) || (isOpen ? beginHint(openAt(fault, pos[0])) : "");
      const hint = code === "TAB_AS_INDENT" ? "Indent with spaces." : usual;
      reportAt(pos[0], { found: `invalid YAML: ${withoutQuotes(message)}`, hint });
    }
  }
  return documents.filter(({ errors, warnings }) => errors.length + warnings.length === 0);
}

/** The offset of the innermost { or [ that a place is in. */
function openAt(document: Document.Parsed, offset: number): number | undefined {
  let found: number | undefined;
  visit(document, {
    Collection(_key, { flow, range }) {
      if (!range || range[0] >= offset || range[1] < offset) return visit.SKIP;
      if (flow) found = range[0];
      return undefined;
    },
  });
  return found;
}

function withoutQuotes(message: string): string {
  return QUOTES.reduce((text, [quote, instead]) => text.replace(quote, instead), message);
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
  /** Offsets of values that can't be taken, such as texts whose variables are unset: nothing else is reported about them. */
  readonly reported = new Set<number>();
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
    return { value: isScalar(node) ? this.#scalar(node, offset) : null, size: 1, offset };
  }

  /** A text may refer to environment variables. Without quotes around it, the result may be a number. */
  #scalar({ value, source = "", type }: Scalar, offset: number): unknown {
    if (typeof value === "number" && LEADING_ZERO.test(source)) this.#refuse(offset, AMBIGUOUS);
    if (typeof value !== "string" || !this.#hasReferences) return value;
    const { text, isChanged, problem } = expanded(value, process.env);
    if (problem !== undefined) this.#refuse(offset, problem);
    return isChanged && type === "PLAIN" ? plainValue(text) : text;
  }

  #refuse(offset: number, problem: Finding): void {
    this.#reportAt(offset, problem);
    this.reported.add(offset);
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
      const found = `an alias ${this.#anchors.has(anchor) ? "inside its own anchor" : "without an anchor of its name above it"}`;
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

/** 0777 is 777 in YAML 1.2 and 511 in YAML 1.1, and people may mean a text. */
const LEADING_ZERO = /^[-+]?0\d/;

/** Without the number, which may be a secret. */
const AMBIGUOUS: Finding = {
  found: "a number that begins with 0, which YAML 1.1 reads as octal and YAML 1.2 as decimal",
  wanted: "the number without that 0, or 0o and its digits if it is octal, or quotes around a text",
};

/** Whether a value is a mapping or a list. */
export function isContainer(value: unknown): value is Record<string | number, unknown> {
  return typeof value === "object" && value !== null;
}
