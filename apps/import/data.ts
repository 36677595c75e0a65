import type { ConfigDocument } from "../../config/read/documents.ts";
import { isContainer } from "../../config/read/documents.ts";
import { isMapping, type Path, pathText } from "../../config/read/problems.ts";
import type { Draft } from "./draft.ts";
import { notUnderstood } from "./finding.ts";
import type { Take } from "./taking.ts";

/** What becomes of keys, by their path with [] for the items of lists; what is below a key that is here is its own matter. */
export type KeyTable = Readonly<Record<string, Take>>;

/** Many keys below a path that become the same. */
export function keys(below: string, names: string, take: Take): KeyTable {
  return Object.fromEntries(names.split(" ").map((name) => [below === "" ? name : `${below}.${name}`, take]));
}

/** Takes a document's keys into the draft. */
export function takeKeys(document: ConfigDocument, table: KeyTable, draft: Draft): void {
  visit(document.value, []);

  function visit(value: unknown, path: Path): void {
    const pattern = path
      .map((step) => (typeof step === "number" ? "[]" : `.${step}`))
      .join("")
      .slice(1);
    const take = Object.hasOwn(table, pattern) ? table[pattern] : undefined;
    const name = pathText(path);
    const { line } = document.positionOf(path, "key");
    if (take !== undefined) {
      if (isUnset(value)) return;
      const words = [typeof value === "string" ? value : (JSON.stringify(value) ?? "")];
      const lineAt = (below: Path) => document.positionOf([...path, ...below], "key").line;
      draft.find(name, line, take({ name, line, value, words, lineAt }, draft));
    } else if (Array.isArray(value) && value.length > 0)
      for (const [index, item] of value.entries()) visit(item, [...path, index]);
    else if (isMapping(value) && (Object.keys(value).length > 0 || path.length === 0))
      for (const [key, inner] of Object.entries(value)) visit(inner, [...path, key]);
    else draft.find(name, line, notUnderstood("no such key is known here"));
  }
}

/** A key that says nothing. */
function isUnset(value: unknown): boolean {
  if (value === null || value === "") return true;
  return isContainer(value) && Object.keys(value).length === 0;
}

/** The mapping at a key; an empty one for anything else. */
export function mappingAt(value: unknown, key: string): Readonly<Record<string, unknown>> {
  const inner = isMapping(value) ? value[key] : undefined;
  return isMapping(inner) ? inner : {};
}
