import { readFileSync, writeFileSync } from "node:fs";
import { changedFigures } from "../../support/changed-figures.ts";
import type { Cost } from "./cost.ts";

/** Costs by what they are the costs of. */
export type SavedCosts = Readonly<Record<string, Cost>>;

const NAME = "costs.json";
const FILE = new URL(NAME, import.meta.url);
const FIGURES = ["calls", "functions", "files", "bytes"] as const;

/** Why this process can't count what the file has; "" if it can. */
export const NOT_COUNTED = isNode20() ? "" : "costs are counted by Node 20 alone: another V8 has other counts";

export function readSavedCosts(): SavedCosts {
  return JSON.parse(readFileSync(FILE, "utf8")) as SavedCosts;
}

export function writeSavedCosts(costs: SavedCosts): void {
  const rounded = Object.entries(costs).map(([name, cost]) => [
    name,
    Object.fromEntries(FIGURES.map((figure) => [figure, Math.round(cost[figure] * 10) / 10])),
  ]);
  writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(rounded), null, 2)}\n`);
}

/** Names each figure that is not what it was, whether it is more or less. */
export function differences(saved: SavedCosts, counted: SavedCosts): string[] {
  const names = new Set([...Object.keys(saved), ...Object.keys(counted)]);
  return [...names].flatMap((name) =>
    changedFigures({ ...saved[name] }, { ...counted[name] }, NAME).map((change) => `${name}: ${change}`),
  );
}

/** Deno and Bun name a version of Node, too. */
function isNode20(): boolean {
  const { node, deno, bun } = process.versions;
  return deno === undefined && bun === undefined && node.startsWith("20.");
}
