/**
 * What the gate for sessions does in pools of several sizes, on simulated replicas: `npm run bench:sessions`. It needs the traces beside
 * the checkout and takes some minutes. `--write` puts the tables into docs/sessions.md, `--json FILE` writes all figures.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { parseArgs } from "node:util";
import { readTraceFile } from "../../apps/cli/simulate/trace-file.ts";
import { runAll } from "../../apps/lab/simulate/run.ts";
import type { Trace } from "../../apps/lab/simulate/trace.ts";
import { loadSpec } from "../apps/lab/simulate/load-spec.ts";
import { withPart } from "../support/documents/made-part.ts";
import { sharedPath } from "../support/shared.ts";
import { halvesOf, POOLS, type Pool, SESSIONS_PER_REPLICA, settingsOf } from "./sessions/pools.ts";
import { type Cell, type Figures, lossesOf, openTable, sessionTable } from "./sessions/report.ts";

const PAGE = new URL("../../docs/sessions.md", import.meta.url);
const CONFIGS = ["exact", "plain", "gate"];
const OPEN_TRACES = ["mooncake_conversation_trace", "agentic_coding_trace"];

const { values } = parseArgs({ options: { write: { type: "boolean" }, json: { type: "string" } } });
// What else the machine does matters more.
setPriority(10);

const plain = await loadSpec("");
const gated = await loadSpec("  sessions: { gate: true }\n");
const NAMED = {
  exact: { name: "exact", loaded: plain, isExact: true },
  plain: { name: "plain", loaded: plain },
  gate: { name: "gate", loaded: gated },
};

async function readShared(name: string): Promise<Trace> {
  const path = sharedPath(`traces/${name}.jsonl.gz`);
  if (path === undefined) throw new Error(`There is no shared/traces/${name}.jsonl.gz beside the checkout.`);
  return readTraceFile(path);
}

function measure(pool: Pool, trace: Trace, perReplica: number | undefined, configs: readonly (keyof typeof NAMED)[]): Cell {
  const figures = configs.map((name) => [name, figuresOf(pool, trace, perReplica, name)] as const);
  const cell = { pool: pool.name, half: trace.name, perReplica, figures: Object.fromEntries(figures) };
  console.error(JSON.stringify(cell));
  return cell;
}

function figuresOf(pool: Pool, trace: Trace, perReplica: number | undefined, name: keyof typeof NAMED): Figures {
  let waited = 0;
  const settings = {
    ...settingsOf(pool, perReplica),
    ended: ({ wait }: { wait?: object | undefined }) => void (wait && waited++),
  };
  const [run] = runAll([trace], [NAMED[name]], settings, 1, () => {});
  const { ttftSeconds, hitRatio, sessionsPerHour = 0, turnsPerHour = 0 } = run!;
  const { mean, p50, p99 } = ttftSeconds;
  return { sessionsPerHour, turnsPerHour, mean, p50, p99, hits: hitRatio, waited };
}

const halves = halvesOf(await readShared("agentic_sessions"));
const open: Cell[] = [];
for (const name of OPEN_TRACES)
  open.push(measure(POOLS[0]!, { ...(await readShared(name)), name }, undefined, ["plain", "gate"]));
const cells = POOLS.flatMap((pool) =>
  SESSIONS_PER_REPLICA.toReversed().flatMap((perReplica) =>
    halves.map((half) => measure(pool, half, perReplica, ["exact", "plain", "gate"])),
  ),
);

const [closedTable, opened, losses] = [sessionTable(cells, CONFIGS), openTable(open), lossesOf(cells)];
console.log(`${closedTable}\n\n${opened}\n\nThe gate loses more than 2 % in:\n${losses.join("\n") || "none"}`);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ cells, open }, undefined, 2)}\n`);
if (values.write === true) {
  const page = readFileSync(PAGE, "utf8");
  writeFileSync(PAGE, withPart(withPart(page, "pools", closedTable), "open", opened));
}
