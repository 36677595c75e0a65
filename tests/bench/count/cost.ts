import type { HeapProfiler, Profiler } from "node:inspector";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../proxies.ts";

/** What a request costs, or a part of one. */
export interface Cost {
  /** Of functions of ours. */
  readonly calls: number;
  /** Different ones among them. */
  readonly functions: number;
  /** That these functions are in. */
  readonly files: number;
  /** Of objects that a function of ours makes, or what it calls; also those that are garbage soon. */
  readonly bytes: number;
}

/** Costs by the folder of the project that they arise in. */
export type Costs = ReadonlyMap<string, Cost>;

const NONE: Cost = { calls: 0, functions: 0, files: 0, bytes: 0 };
const SOURCES = new RegExp(`^${pathToFileURL(join(root, "/")).href}((?:core|plugins|config|apps)/.*)$`);
/** The compiler puts it around each function, to keep its name; no package has it. */
const NAMES_FUNCTIONS = "__name";

/** The costs of one of so many equal requests. */
export function costsOf(
  coverage: readonly Profiler.ScriptCoverage[],
  profile: HeapProfiler.SamplingHeapProfile,
  requests: number,
): Costs {
  const costs = new Map<string, Cost>();
  addCalls(costs, coverage);
  addBytes(costs, profile.head, undefined);
  return new Map(
    [...costs].sort().map(([folder, cost]) => [folder, { ...cost, calls: cost.calls / requests, bytes: cost.bytes / requests }]),
  );
}

/** All folders together. */
export function sumOf(costs: Costs): Cost {
  return [...costs.values()].reduce(plus, NONE);
}

function addCalls(costs: Map<string, Cost>, coverage: readonly Profiler.ScriptCoverage[]): void {
  for (const { url, functions } of coverage) {
    const file = fileOf(url);
    if (file === undefined) continue;
    const counts = functions
      .filter(({ functionName }) => functionName !== NAMES_FUNCTIONS)
      .map(({ ranges }) => ranges[0]?.count ?? 0)
      .filter((count) => count > 0);
    if (counts.length === 0) continue;
    const calls = counts.reduce((sum, count) => sum + count, 0);
    add(costs, file, { calls, functions: counts.length, files: 1, bytes: 0 });
  }
}

/** What a runtime's own function makes counts for the function of ours that called it. */
function addBytes(costs: Map<string, Cost>, node: HeapProfiler.SamplingHeapProfileNode, caller: string | undefined): void {
  const file = fileOf(node.callFrame.url) ?? caller;
  if (file !== undefined && node.selfSize > 0) add(costs, file, { ...NONE, bytes: node.selfSize });
  for (const child of node.children) addBytes(costs, child, file);
}

function add(costs: Map<string, Cost>, file: string, cost: Cost): void {
  const folder = dirname(file);
  costs.set(folder, plus(costs.get(folder) ?? NONE, cost));
}

function plus(one: Cost, other: Cost): Cost {
  return {
    calls: one.calls + other.calls,
    functions: one.functions + other.functions,
    files: one.files + other.files,
    bytes: one.bytes + other.bytes,
  };
}

/** "core/wire/head.ts"; undefined for what is not the router's. */
function fileOf(url: string): string | undefined {
  return SOURCES.exec(url)?.[1];
}
