import { type Document, isMap, isSeq, parseAllDocuments, stringify, type YAMLSeq } from "yaml";
import type { KeyEntry } from "./key-entry.ts";

/** Where keys are listed in a text: in a keys file, or in a Router document. */
interface KeyList {
  readonly document: Document.Parsed;
  readonly list: YAMLSeq;
  /** The document's part of the text. */
  readonly start: number;
  readonly end: number;
}

const PLACES = [[], ["spec", "auth", "keys"]] as const;

/** A list of this key alone, as text. */
export function keyText(entry: KeyEntry): string {
  return stringify([entry], { lineWidth: 0 });
}

/** The text with one more key. Throws an Error that says what to do. */
export function withKey(text: string, entry: KeyEntry): string {
  const found = keyListIn(text);
  if (found === undefined && /^\s*(#.*\s*)*$/.test(text)) return `${text}${keyText(entry)}`;
  if (found === undefined) throw new Error("The file has no list of keys: write keys: [] below spec.auth, or name a new file");
  if (indexOf(entry.name, found.list) >= 0)
    throw new Error(`There is a key ${entry.name} already: revoke it, or take another name`);
  found.list.flow = false;
  found.list.add(found.document.createNode(entry));
  return edited(text, found);
}

/** The text without the key of this name. Throws an Error that says what to do. */
export function withoutKey(text: string, name: string): string {
  const found = keyListIn(text);
  const index = found === undefined ? -1 : indexOf(name, found.list);
  if (found === undefined || index < 0)
    throw new Error(`The file has no key ${name}: signalbox key list -f FILE shows those that it has`);
  found.list.delete(index);
  return edited(text, found);
}

function edited(text: string, { document, start, end }: KeyList): string {
  return text.slice(0, start) + document.toString({ lineWidth: 0 }) + text.slice(end);
}

function keyListIn(text: string): KeyList | undefined {
  const documents = parseAllDocuments(text, { schema: "core" }) as readonly Document.Parsed[];
  for (const [index, document] of documents.entries()) {
    if (document.errors.length > 0) throw new Error("The file is no valid YAML: signalbox check says where");
    const list = PLACES.map((path) => document.getIn(path, true)).find(isSeq);
    // What stands before the first document belongs to it.
    if (list !== undefined) return { document, list, start: index === 0 ? 0 : document.range[0], end: document.range[2] };
  }
  return undefined;
}

function indexOf(name: string, list: YAMLSeq): number {
  return list.items.findIndex((item) => isMap(item) && item.get("name") === name);
}
