import { type Input, print, UsageError } from "../../../config/command.ts";
import type { AdapterChange, AdapterPlaces } from "../../../core/control/adapters.ts";
import { table } from "../../../core/report/table.ts";
import { apiPath, askAdmin, changeThroughAdmin } from "../admin/ask-admin.ts";
import { noWords } from "../frame/command.ts";

/** `signalbox adapters`: shows who has which adapters, or has replicas load or unload one. Returns the exit code. */
export function adapters(input: Input): Promise<number> {
  const [action, name] = input.words;
  if (action === undefined) return show(input);
  if (action !== "load" && action !== "unload")
    throw new UsageError(`There is no "adapters ${action}"; there are load and unload.`);
  if (name === undefined || input.words.length !== 2)
    throw new UsageError(`Name one adapter: signalbox adapters ${action} food-review-v1`);
  if (action === "unload" && input.text("path") !== undefined)
    throw new UsageError("--path is for load: unload goes by the name alone.");
  return change(input, action, name);
}

async function show(input: Input): Promise<number> {
  for (const name of ["path", "endpoint", "pool"])
    if (input.text(name) !== undefined) throw new UsageError(`--${name} is for adapters load and unload.`);
  noWords(input, "adapters");
  const document = await askAdmin<{ adapters: readonly AdapterPlaces[] }>(input, apiPath(["adapters"]));
  return print(input, document, () => `${adaptersText(document.adapters)}\n`);
}

/** Exit code 1 if a replica did not do it. */
async function change(input: Input, action: "load" | "unload", name: string): Promise<number> {
  const body = { path: input.text("path"), endpoint: input.text("endpoint"), pool: input.text("pool") };
  const path = apiPath(["adapters", name, action]);
  const document = await changeThroughAdmin<{ changes: readonly AdapterChange[] }>(input, "POST", path, body);
  print(input, document, () => `${changesText(document.changes)}\n`, 0);
  return document.changes.every(({ isDone }) => isDone) ? 0 : 1;
}

/** Who has which adapters, as a table. */
export function adaptersText(adapters: readonly AdapterPlaces[]): string {
  if (adapters.length === 0) return "No replica has an adapter, and no rewrite has a target.";
  const rows = adapters.map(({ name, loaded, loading, refused }) => [
    name,
    loaded.join(", ") || "-",
    loading.join(", ") || "-",
    refused.map(({ endpoint, retryInS }) => `${endpoint} (for ${retryInS} s)`).join(", ") || "-",
  ]);
  return table(["left", "left", "left", "left"], [["ADAPTER", "LOADED", "LOADING", "REFUSED"], ...rows]).join("\n");
}

/** What each replica said, one per line. */
export function changesText(changes: readonly AdapterChange[]): string {
  const rows = changes.map(({ endpoint, isDone, message }) => [endpoint, isDone ? "done" : "failed", message]);
  return table(["left", "left", "left"], rows).join("\n");
}
