import { readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type Document, isMap, isSeq, parseAllDocuments } from "yaml";

/** One policy: its config as the router and the simulator get it. */
export interface Policy {
  readonly name: string;
  readonly file: string;
}

/** Copies a config into a folder with these replicas in place of its own; plugins given as files are named by absolute paths. */
export function policyOf(file: string, folder: string, urls: readonly string[]): Policy {
  const documents = parseAllDocuments(readFileSync(file, "utf8")) as Document[];
  for (const document of documents) {
    if (document.get("kind") !== "Router") continue;
    document.setIn(
      ["spec", "pool", "endpoints"],
      urls.map((url) => ({ url })),
    );
    document.deleteIn(["spec", "listen"]);
    document.setIn(["spec", "admin"], false);
    const plugins = document.getIn(["spec", "plugins"]);
    for (const plugin of isSeq(plugins) ? plugins.items : []) {
      if (!isMap(plugin)) continue;
      const from = plugin.get("from");
      if (typeof from === "string" && from.startsWith(".")) plugin.set("from", resolve(dirname(file), from));
    }
  }
  const copy = join(folder, basename(file));
  writeFileSync(copy, documents.map(String).join("---\n"));
  return { name: basename(file).replace(/\.ya?ml$/, ""), file: copy };
}
