import { isDeepStrictEqual } from "node:util";
import { Document, isCollection, isNode, isSeq, parseAllDocuments } from "yaml";
import { type Path, pathText } from "../read/problems.ts";

/**
 * The text of a config file, formatted: two spaces, one between brackets and their contents; comments stay. The text must be
 * valid. JSON files stay JSON.
 */
export function formatted(file: string, text: string): string {
  if (/\.json$/i.test(file)) return `${JSON.stringify(JSON.parse(text), undefined, 2)}\n`;
  const documents = parse(text);
  const next = documents.map((document) => document.toString({ lineWidth: 0 })).join("");
  // A formatter that changes what a file says would be worse than none.
  if (!isDeepStrictEqual(valuesOf(parse(next)), valuesOf(documents)))
    throw new Error(`${file} can't be formatted without changing what it says; leave it as it is`);
  return next;
}

// Without "single documents only", the library's result has documents or a note that there are none.
const parse = (text: string) => [...parseAllDocuments(text, { schema: "core" })] as readonly Document[];
const valuesOf = (documents: readonly Document[]): readonly unknown[] => documents.map((document) => document.toJS());

/** Plain data as YAML; each value has the comment that `commentOf` has for its path, if any. */
export function withComments(value: unknown, commentOf: (path: string) => string | undefined): string {
  const document = new Document(value, { schema: "core", aliasDuplicateObjects: false });
  comment(document.contents, value, [], commentOf);
  return document.toString({ lineWidth: 0 });
}

function comment(node: unknown, value: unknown, path: Path, commentOf: (path: string) => string | undefined): void {
  if (!isNode(node)) return;
  const text = commentOf(pathText(path));
  if (isSeq(node) && Array.isArray(value) && value.every((item) => typeof item !== "object")) node.flow = true;
  if (text !== undefined) node.comment = ` ${text}`;
  if (!isCollection(node) || typeof value !== "object" || value === null) return;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value))
    comment(node.get(key, true), (value as Record<string | number, unknown>)[key], [...path, key], commentOf);
}
