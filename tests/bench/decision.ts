/**
 * What one decision costs, in microseconds: hash the prompt, match it on every endpoint, filter, score, pick, with the default
 * profile and caches full of other prompts; and how much of that the times of plugins and the recorded estimates cost.
 *
 *     node --import tsx tests/bench/decision.ts     deno run -A tests/bench/decision.ts     bun tests/bench/decision.ts
 *
 * prints JSON; `npm run bench:decision` runs it on all runtimes and prints a table.
 */
import { loadTexts } from "../../config/load.ts";
import type { Profile } from "../../core/active-config.ts";
import { systemClock } from "../../core/contract/clock.ts";
import { silentLog } from "../../core/contract/log.ts";
import { makeEndpoint, makeRequest } from "../../core/contract/test-kit.ts";
import { KeptState } from "../../core/control/kept-state.ts";
import { buildPluginSet } from "../../core/control/plugin-set.ts";
import { decide } from "../../core/decide/decide.ts";
import { estimate } from "../../core/decide/estimate.ts";
import { PluginTimes } from "../../core/plugin-watch/plugin-times.ts";
import { factsOf } from "../../core/state/facts.ts";
import { LoadTable } from "../../core/state/load.ts";
import { PrefixIndex } from "../../core/state/prefix-index.ts";
import { builtIns } from "../../plugins/registry.ts";

const CASES = [
  { bytes: 4_096, endpoints: 8, goal: 10 },
  { bytes: 65_536, endpoints: 8, goal: 40 },
  { bytes: 65_536, endpoints: 100, goal: 150 },
  { bytes: 409_600, endpoints: 8, goal: 60 },
  { bytes: 4_096, endpoints: 1_000, goal: 300 },
];
const KEY = { api: "chat-completions", target: "m", cacheSalt: "" };
const WARM_UP = 3_000;
const COUNTED = 3_000;
/** Blocks of decisions with the times of plugins and without, in turn. A block holds ten timed requests. */
const BLOCKS = 300;
const BLOCK = 640;

const loaded = await loadTexts([], builtIns, ["http://127.0.0.1:1"]);
if (loaded.problems !== undefined) throw new Error("The default config must load");
const services = { clock: systemClock, random: Math.random, log: silentLog, output: { print: () => {}, isTerminal: false } };
const times = new PluginTimes(systemClock, silentLog);
const { active } = buildPluginSet(loaded, services, new KeptState());
times.follow(active.profile, 2);

type ProfileFor = (nowMs: number) => Profile;
const timed: ProfileFor = (nowMs) => times.profileFor(active.profile, nowMs);
const untimed: ProfileFor = () => active.profile;

/** Makes one decision with each call; returns its milliseconds. */
function decider(bytes: number, count: number): (profileFor: ProfileFor) => number {
  const load = new LoadTable();
  const index = new PrefixIndex({ blockBytes: 256, maxBytes: 64 * 2 ** 20 });
  const endpoints = Array.from({ length: count }, (_, i) => makeEndpoint(load.slotOf(`e${i}`), { models: ["m"] }));
  const facts = factsOf(endpoints);
  const prompt = new Uint8Array(bytes).map((_, at) => 32 + (at % 90));
  let serial = 0;
  return (profileFor) => {
    // Half of the prompt is shared by all, the rest is new: a common system prompt and a question of its own.
    new DataView(prompt.buffer).setUint32(bytes / 2, serial++);
    const from = performance.now();
    const prefix = index.match(KEY, prompt, [[0, bytes]], bytes / 4);
    const request = makeRequest({ model: "m", target: "m", body: prompt, promptTokens: bytes / 4, prefix });
    const nowMs = performance.now();
    const { legs } = decide(request, facts, profileFor(nowMs), load.at(nowMs), Math.random);
    const endpoint = legs[0]?.order[0];
    const spent = performance.now() - from;
    if (endpoint !== undefined) index.admit(prefix, endpoint.slot);
    return spent;
  };
}

/** By what was measured, in the table's order. */
const cells: Record<string, string> = {};

for (const { bytes, endpoints: count, goal } of CASES) {
  const once = decider(bytes, count);
  for (let i = 0; i < WARM_UP; i++) once(timed);
  const spentMs = Float64Array.from({ length: COUNTED }, () => once(timed)).sort();
  const micros = (share: number) => ((spentMs[Math.floor(share * COUNTED)] ?? 0) * 1000).toFixed(1);
  cells[`${bytes / 1024} KB over ${count} endpoints, us: median, p90 (goal: at most ${goal})`] = `${micros(0.5)}, ${micros(0.9)}`;
}

const { bytes, endpoints: count } = CASES[0]!;
const once = decider(bytes, count);
for (let i = 0; i < WARM_UP; i++) once(i % 2 === 0 ? timed : untimed);
const blockMeanMs = (profileFor: ProfileFor) => {
  let sumMs = 0;
  for (let i = 0; i < BLOCK; i++) sumMs += once(profileFor);
  return sumMs / BLOCK;
};
const blocks = Array.from({ length: BLOCKS }, () => [blockMeanMs(timed), blockMeanMs(untimed)] as const);
// The quick quarter: in the others the process waited for a processor.
const quickUs = (which: 0 | 1) => 1000 * (blocks.map((block) => block[which]).sort((a, b) => a - b)[BLOCKS / 4] ?? 0);
const [withUs, withoutUs] = [quickUs(0), quickUs(1)];
const nanos = (1000 * (withUs - withoutUs)).toFixed(0);
cells["times of plugins, us: with, without (ns)"] = `${withUs.toFixed(2)}, ${withoutUs.toFixed(2)} (${nanos})`;

/** Estimates for one decision, whose prompt is matched already, in nanoseconds: the quick quarter of blocks. */
function estimateNanos(count: number): number {
  const load = new LoadTable();
  const index = new PrefixIndex({ blockBytes: 256, maxBytes: 64 * 2 ** 20 });
  const order = Array.from({ length: count }, (_, i) => makeEndpoint(load.slotOf(`e${i}`), { models: ["m"] }));
  const prompt = new Uint8Array(4_096).map((_, at) => 32 + (at % 90));
  const prefix = index.match(KEY, prompt, [[0, prompt.length]], 1_024);
  for (const { slot } of order) {
    index.admit(prefix, slot);
    const work = { tokens: 1_024, hasFirstByte: true };
    load.begin(slot, work, performance.now());
    load.endPrefill(slot, work, true, performance.now());
    load.begin(slot, work, performance.now());
  }
  const request = makeRequest({ model: "m", target: "m", promptTokens: 1_024, prefix });
  const view = load.at(performance.now());
  const blockNanos = () => {
    const from = performance.now();
    for (let i = 0; i < BLOCK; i++) kept = estimate(request, order, view);
    return (1e6 * (performance.now() - from)) / BLOCK;
  };
  for (let i = 0; i < BLOCKS; i++) blockNanos();
  return Array.from({ length: BLOCKS }, blockNanos).sort((a, b) => a - b)[BLOCKS / 4] ?? 0;
}

/** So that no engine leaves the work out. */
let kept: ArrayLike<number> = [];
for (const count of [8, 1_000]) cells[`estimates over ${count} endpoints, ns`] = estimateNanos(count).toFixed(0);
if (kept.length === 0) throw new Error("Nothing was estimated");
console.log(JSON.stringify(cells));
