/**
 * What the gate for sessions does in pools of several sizes, on simulated replicas: `npm run bench:sessions`. It needs the traces beside
 * the checkout and takes some minutes. `--write` puts the tables into docs/sessions.md, `--json FILE` writes all figures.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readTraceFile } from "../../apps/cli/simulate/trace-file.ts";
import { type NamedConfig, runAll } from "../../apps/lab/simulate/run.ts";
import type { Trace } from "../../apps/lab/simulate/trace.ts";
import { type LoadedConfig, loadTexts } from "../../config/load.ts";
import { builtIns } from "../../plugins/registry.ts";
import { loadSpec } from "../apps/lab/simulate/load-spec.ts";
import { withPart } from "../support/documents/made-part.ts";
import { sharedPath } from "../support/shared.ts";
import { halvesOf, namedByFirstBlock, POOLS, type Pool, SESSIONS_PER_REPLICA, settingsOf } from "./sessions/pools.ts";
import { type Cell, type Figures, lossesOf, openTable, policyTable, sessionTable } from "./sessions/report.ts";

const PAGE = new URL("../../docs/sessions.md", import.meta.url);
const CONFIGS = ["exact state", "plain", "gate"];
const THUNDERAGENT = "../../examples/policies/thunderagent/thunderagent.yaml";
/** From so many sessions for each replica on, turns wait. */
const SATURATED = 8;
const OPEN_TRACES = ["mooncake_conversation_trace", "agentic_coding_trace"];

const { values } = parseArgs({ options: { write: { type: "boolean" }, json: { type: "string" } } });
// What else the machine does matters more.
setPriority(10);

const plain = await loadSpec("");
const NAMED: readonly NamedConfig[] = [
  { name: "exact state", loaded: plain, isExact: true },
  { name: "plain", loaded: plain },
  { name: "gate", loaded: await loadSpec("  sessions: { gate: true }\n") },
  { name: "ThunderAgent, half-life 1 s", loaded: await thunderAgent(1_000) },
  { name: "ThunderAgent, half-life 60 s", loaded: await thunderAgent(60_000) },
];
const ALL = NAMED.map(({ name }) => name);

async function thunderAgent(halfLifeMs: number): Promise<LoadedConfig> {
  const file = new URL(THUNDERAGENT, import.meta.url);
  const text = readFileSync(file, "utf8").replace("halfLifeMs: 1000", `halfLifeMs: ${halfLifeMs}`);
  const loaded = await loadTexts([{ file: fileURLToPath(file), text }], builtIns);
  if (loaded.problems !== undefined) throw new Error(JSON.stringify(loaded.problems));
  return loaded;
}

async function readShared(name: string): Promise<Trace> {
  const path = sharedPath(`traces/${name}.jsonl.gz`);
  if (path === undefined) throw new Error(`There is no shared/traces/${name}.jsonl.gz beside the checkout.`);
  return { ...(await readTraceFile(path)), name };
}

function measure(pool: Pool, trace: Trace, perReplica: number | undefined, configs: readonly string[]): Cell {
  const asked = NAMED.filter(({ name }) => configs.includes(name));
  const figures = asked.map((config) => [config.name, figuresOf(pool, trace, perReplica, config)] as const);
  const cell = { pool: pool.name, half: trace.name, perReplica, figures: Object.fromEntries(figures) };
  console.error(JSON.stringify(cell));
  return cell;
}

function figuresOf(pool: Pool, trace: Trace, perReplica: number | undefined, config: NamedConfig): Figures {
  let waited = 0;
  const settings = {
    ...settingsOf(pool, perReplica),
    ended: ({ wait }: { wait?: object | undefined }) => void (wait && waited++),
  };
  const [run] = runAll([trace], [config], settings, 1, () => {});
  const { ttftSeconds, hitRatio, sessionsPerHour = 0, turnsPerHour = 0 } = run!;
  const { mean, p50, p99 } = ttftSeconds;
  return { sessionsPerHour, turnsPerHour, mean, p50, p99, hits: hitRatio, waited };
}

const halves = halvesOf(await readShared("agentic_sessions"));
const traces = await Promise.all(OPEN_TRACES.map(readShared));
const open = [...traces, namedByFirstBlock(traces[1]!)].map((trace) => measure(POOLS[0]!, trace, undefined, ["plain", "gate"]));
const cells = POOLS.flatMap((pool) =>
  SESSIONS_PER_REPLICA.toReversed().flatMap((perReplica) =>
    halves.map((half) => measure(pool, half, perReplica, pool === POOLS[0] && perReplica >= SATURATED ? ALL : CONFIGS)),
  ),
);

const [closedTable, opened, losses] = [sessionTable(cells, CONFIGS), openTable(open), lossesOf(cells)];
const policies = policyTable(cells.filter(({ figures }) => Object.keys(figures).length === ALL.length));
console.log(`${policies}\n\n${closedTable}\n\n${opened}\n\nThe gate loses more than 2 % in:\n${losses.join("\n") || "none"}`);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ cells, open }, undefined, 2)}\n`);
if (values.write === true) {
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(PAGE, withPart(withPart(withPart(page, "policies", policies), "pools", closedTable), "open", opened));
}
