import assert from "node:assert/strict";
import { type LoadedConfig, loadTexts } from "../../../config/load.ts";
import { formatProblem } from "../../../config/read/problems.ts";
import type { ProfileRef } from "../../../core/router-config.ts";
import { builtIns } from "../../../plugins/registry.ts";

const URL = "http://gpu1:8000";

/** An EndpointPickerConfig with these keys, starting on line 3. */
export function picker(keys: string, version = "llm-d.ai/v1alpha1"): string {
  return `apiVersion: ${version}\nkind: EndpointPickerConfig\n${keys}`;
}

/** Loads a config with one further address and the real plugins. */
export async function loaded(text: string, urls: readonly string[] = [URL]): Promise<LoadedConfig> {
  const result = await loadTexts([{ file: "a.yaml", text }], builtIns, urls);
  if (result.problems !== undefined) assert.fail(result.problems.map(formatProblem).join("\n"));
  return result;
}

export async function problemsOf(text: string, urls: readonly string[] = [URL]): Promise<readonly string[]> {
  const { problems = [] } = await loadTexts([{ file: "a.yaml", text }], builtIns, urls);
  return problems.map((problem) => formatProblem(problem).replace(/^a\.yaml:/, ""));
}

/** A profile as "name" or "name weight". */
export function shown(plugins: readonly ProfileRef[]): readonly string[] {
  return plugins.map(({ pluginRef, weight }) => (weight === undefined ? pluginRef : `${pluginRef} ${weight}`));
}
