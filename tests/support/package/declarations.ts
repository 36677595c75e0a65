import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Of an import in a declaration file: the compiler leaves the source's ending there, which not every tool understands. */
const SPECIFIER = /((?:from|import)\s*\(?\s*")(\.{1,2}\/[^"]+)\.ts"/g;

/** The declaration files that the entries (paths in `folder`) need, with imports of .js files: text by absolute path. */
export function declarationsOf(folder: string, entries: readonly string[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  const waiting = entries.map((entry) => resolve(folder, entry));
  for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
    if (texts.has(path)) continue;
    const text = readFileSync(path, "utf8");
    const here = dirname(path);
    for (const [, , imported] of text.matchAll(SPECIFIER)) waiting.push(resolve(here, `${imported}.d.ts`));
    texts.set(path, text.replace(SPECIFIER, '$1$2.js"'));
  }
  return texts;
}
