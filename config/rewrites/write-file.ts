import { isDeepStrictEqual } from "node:util";
import { type Document, isMap, isScalar, parseAllDocuments, stringify } from "yaml";
import { isMapping, type Path } from "../read/problems.ts";
import { editFile } from "../read/replace-file.ts";
import type { ResourceName } from "./overlay.ts";
import { labelOf, type RewriteDocument } from "./schema.ts";

/**
 * The text of a config file after one of its resources was changed, added (`before` undefined) or deleted (`after` undefined).
 * Only what differs between `before` and `after` is written, so comments and references such as ${NAME} stay where nothing changed.
 * Where only single values differ, nothing else of the text changes. Throws an Error that says what to do if the resource can't be
 * found.
 */
export function editedText(
  text: string,
  resource: ResourceName,
  before: RewriteDocument | undefined,
  after: RewriteDocument | undefined,
): string {
  if (before === undefined) return after === undefined ? text : appended(text, after);
  const documents = parseAllDocuments(text, { schema: "core" }) as readonly Document.Parsed[];
  const index = documents.findIndex((document) => isResource(document, resource));
  const document = documents[index];
  if (document === undefined || document.errors.length > 0)
    throw new Error("The resource is not a separate document of its file: change it in the file");
  // What stands before the first document belongs to it.
  const [start, end] = [index === 0 ? 0 : document.range[0], document.range[2]];
  if (after === undefined) return text.slice(0, start) + text.slice(end);
  const edits = differences(before, after, []);
  const splices = edits.map((edit) => spliceOf(edit, document));
  if (splices.every((splice) => splice !== undefined)) return spliced(text, splices);
  for (const edit of edits) apply(edit, document);
  return text.slice(0, start) + document.toString({ lineWidth: 0 }) + text.slice(end);
}

function isResource({ contents }: Document.Parsed, { namespace, name }: ResourceName): boolean {
  if (!isMap(contents)) return false;
  const kind: unknown = contents.get("kind");
  const [ownName, ownNamespace = "default"] = ["name", "namespace"].map((key) => contents.getIn(["metadata", key]));
  return kind === "InferenceModelRewrite" && ownName === name && ownNamespace === namespace;
}

function appended(text: string, after: RewriteDocument): string {
  const separator = text === "" || text.endsWith("\n") ? "---\n" : "\n---\n";
  return `${text}${separator}${stringify(after, { lineWidth: 0 })}`;
}

/** One difference between two documents; `value` is undefined where something is gone. */
interface Edit {
  readonly path: Path;
  readonly value: unknown;
}

/** Edits that make `after` of `before`, in the order in which they must be applied. */
function differences(before: unknown, after: unknown, path: Path): readonly Edit[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (Array.isArray(before) && Array.isArray(after)) return listDifferences(before, after, path);
  if (!isMapping(before) || !isMapping(after)) return [{ path, value: after }];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
    differences(before[key], after[key], [...path, key]),
  );
}

/** Targets that are gone are taken out first, so that the comments of the others stay with them. */
function listDifferences(before: readonly unknown[], after: readonly unknown[], path: Path): readonly Edit[] {
  const names = new Set(after.map(targetName));
  const isGone = (item: unknown) => targetName(item) !== undefined && !names.has(targetName(item));
  const gone = before.flatMap((item, index) => (isGone(item) ? [index] : []));
  const left = before.filter((item) => !isGone(item));
  const removed = left.slice(after.length).map((_, index) => after.length + index);
  const indexes = [gone, removed].map((list) => list.toReversed().map((index) => ({ path: [...path, index], value: undefined })));
  const kept = left.slice(0, after.length).flatMap((item, index) => differences(item, after[index], [...path, index]));
  const added = after.slice(left.length).map((value, index) => ({ path: [...path, left.length + index], value }));
  return [...indexes.flat(), ...kept, ...added];
}

function targetName(item: unknown): unknown {
  return isMapping(item) && item["modelRewrite"] !== undefined ? labelOf(item) : undefined;
}

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A single value in the place of another one; undefined for any other edit. */
function spliceOf({ path, value }: Edit, document: Document.Parsed): Splice | undefined {
  const node = document.getIn(path, true);
  if (!isScalar(node) || !node.range || node.value === null || typeof value === "object" || value === undefined) return undefined;
  // Block scalars have lines of their own.
  if (node.type?.startsWith("BLOCK")) return undefined;
  return { start: node.range[0], end: node.range[1], text: typeof value === "string" ? JSON.stringify(value) : String(value) };
}

function spliced(text: string, splices: readonly Splice[]): string {
  let result = text;
  for (const { start, end, text: inserted } of splices.toSorted((a, b) => b.start - a.start))
    result = result.slice(0, start) + inserted + result.slice(end);
  return result;
}

function apply({ path, value }: Edit, document: Document.Parsed): void {
  if (value === undefined) document.deleteIn(path);
  // A single value is put into the node that is there, which keeps its comment.
  else document.setIn(path, typeof value === "object" ? document.createNode(value) : value);
}

/**
 * Changes, adds (`before` undefined) or deletes (`after` undefined) a resource in a config file, as it is on disk now; its
 * comments stay. The file is replaced in one step. Rejects with an Error that says what to do.
 */
export async function writeRewrite(
  file: string,
  resource: ResourceName,
  before: RewriteDocument | undefined,
  after: RewriteDocument | undefined,
): Promise<void> {
  await editFile(
    file,
    (text) => editedText(text, resource, before, after),
    "the resource comes from no file that can be written",
  );
}
