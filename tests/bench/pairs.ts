/**
 * Where pairs of replicas pay, and how good the deciders are, on simulated replicas: `npm run bench:pairs`. It needs the traces beside the
 * checkout and takes some minutes. `--write` puts the table into docs/disaggregation.md, `--json FILE` writes all figures, `--only TEXT`
 * runs the traffics whose names have the text.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { parseArgs } from "node:util";
import { readTraceFile } from "../../apps/cli/simulate/trace-file.ts";
import { type NamedConfig, runAll } from "../../apps/lab/simulate/run.ts";
import type { Trace } from "../../apps/lab/simulate/trace.ts";
import { loadSpec } from "../apps/lab/simulate/load-spec.ts";
import { withPart } from "../support/documents/made-part.ts";
import { sharedPath } from "../support/shared.ts";
import { type Cell, type Figures, lossesOf, pairTable } from "./pairs/report.ts";
import { SPLITS, settingsFor, TRAFFICS, type Traffic, traceFor } from "./pairs/traffics.ts";

const PAGE = new URL("../../docs/disaggregation.md", import.meta.url);
/** About a step's chunk. */
const THRESHOLD = 2_048;

const { values } = parseArgs({ options: { write: { type: "boolean" }, json: { type: "string" }, only: { type: "string" } } });
if (values.write === true && values.only !== undefined) throw new Error("--write needs all traffics; leave out --only.");
// What else the machine does matters more.
setPriority(10);

const STANDALONE: NamedConfig = { name: "standalone", loaded: await loadSpec("") };
const DECIDERS: readonly NamedConfig[] = [
  await decider("never", "never"),
  await decider("always", "always"),
  await decider(`from ${THRESHOLD.toLocaleString("en-US")} tokens on`, `{ uncachedTokens: ${THRESHOLD} }`),
  await decider("cost", "cost"),
];

async function decider(name: string, text: string): Promise<NamedConfig> {
  return { name, loaded: await loadSpec(`  disaggregation: { decider: ${text} }\n`) };
}

async function readShared(name: string): Promise<Trace> {
  const path = sharedPath(`traces/${name}.jsonl.gz`);
  if (path === undefined) throw new Error(`There is no shared/traces/${name}.jsonl.gz beside the checkout.`);
  return { ...(await readTraceFile(path)), name };
}

function measure(traffic: Traffic, trace: Trace, prefillers: number | undefined): Cell {
  const configs = prefillers === undefined ? [STANDALONE] : DECIDERS;
  const settings = settingsFor(traffic, prefillers);
  const figures = configs.map((config): readonly [string, Figures] => {
    const [run] = runAll([trace], [config], settings, 1, () => {});
    const { ttftSeconds, interTokenSeconds, inTargetShare: share, goodputPerS: goodput = 0, pairs } = run!;
    const { made = 0, alone = 0, failed = 0 } = pairs ?? {};
    const { mean, p99 } = ttftSeconds;
    const of = { mean, p99, tokenP99: 1000 * interTokenSeconds.p99, share, goodput, pairs: made / (made + alone + failed || 1) };
    console.error(JSON.stringify({ traffic: traffic.name, prefillers, decider: config.name, ...of, failed }));
    return [config.name, of];
  });
  const { ttftMs, tpotMs } = traffic.targets;
  return {
    traffic: traffic.name,
    limits: `${ttftMs / 1000} s, ${tpotMs} ms a token`,
    prefillers,
    figures: Object.fromEntries(figures),
  };
}

const cells: Cell[] = [];
for (const traffic of TRAFFICS.filter(({ name }) => name.includes(values.only ?? ""))) {
  const trace = traceFor(traffic, await readShared(traffic.file));
  for (const prefillers of [undefined, ...SPLITS]) cells.push(measure(traffic, trace, prefillers));
}

const table = pairTable(cells);
const losses = lossesOf(cells);
console.log(`${table}\n\nThe decider by cost loses more than 2 % in:\n${losses.join("\n") || "none"}`);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(cells, undefined, 2)}\n`);
if (values.write === true) writeFileSync(PAGE, withPart(readFileSync(PAGE, "utf8"), "pairs", table));
