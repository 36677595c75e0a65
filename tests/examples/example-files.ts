import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ENGINE_TIMES } from "../../apps/lab/engine/engine-times.ts";

const root = join(import.meta.dirname ?? ".", "..", "..");

/** Absolute path of a file below examples/. */
export function examplePath(name: string): string {
  return join(root, "examples", name);
}

/** Text of an example, with its example addresses replaced by the given ones, in order. */
export function exampleText(name: string, urls: readonly string[] = []): string {
  let text = readFileSync(examplePath(name), "utf8");
  urls.forEach((url, index) => {
    text = text.replaceAll(`http://gpu${index + 1}:8000`, url);
  });
  return text;
}

/** Settings of a simulation of so many equal replicas, in which nothing fails. */
export function simulationOf(replicas: number) {
  const model = { ...ENGINE_TIMES, kvTokens: 131_072 };
  return { replicas, model, speeds: [], timeScale: 1, seed: 1, tokenError: 0, faults: [] };
}
