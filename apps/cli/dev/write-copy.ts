import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { MANIFESTS } from "../../../config/plugins/module-files.ts";
import type { Version } from "./versions.ts";

/**
 * Writes the files of a version below `root`, each at its own path there, so that what they import by relative paths is of that version
 * too. What else lies beside them, and the packages of the folders above, are links to what is there. Returns the plugin's file.
 */
export function writeCopy(root: string, file: string, texts: Version["texts"]): string {
  const folders = new Set(texts.map(([path]) => dirname(path)));
  for (const folder of folders) mkdirSync(join(root, folder), { recursive: true });
  for (const [path, text] of texts) writeFileSync(join(root, path), text);
  for (const folder of folders) {
    for (const name of readdirSync(folder)) link(root, join(folder, name));
    for (let above = dirname(folder); ; above = dirname(above)) {
      for (const name of ["node_modules", ...MANIFESTS]) link(root, join(above, name));
      if (dirname(above) === above) break;
    }
  }
  return join(root, file);
}

function link(root: string, path: string): void {
  try {
    symlinkSync(path, join(root, path));
  } catch {
    // It is there already, as a file of this version or as the link of another folder.
  }
}
