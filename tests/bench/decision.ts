/**
 * What one decision costs, in microseconds: hash the prompt, match it on every endpoint, filter, score, pick, with the default
 * profile and caches full of other prompts.
 *
 *     node --import tsx tests/bench/decision.ts     deno run -A tests/bench/decision.ts     bun tests/bench/decision.ts
 */
import { loadTexts } from "../../config/load.ts";
import { systemClock } from "../../core/contract/clock.ts";
import { silentLog } from "../../core/contract/log.ts";
import { makeEndpoint, makeRequest } from "../../core/contract/test-kit.ts";
import { KeptState } from "../../core/control/kept-state.ts";
import { buildPluginSet } from "../../core/control/plugin-set.ts";
import { decide } from "../../core/pipeline.ts";
import { PluginTimes } from "../../core/stages/plugin-times.ts";
import { factsOf } from "../../core/state/facts.ts";
import { LoadTable } from "../../core/state/load.ts";
import { PrefixIndex } from "../../core/state/prefix-index.ts";
import { builtIns } from "../../plugins/registry.ts";

const CASES = [
  { bytes: 4_096, endpoints: 8, goal: 10 },
  { bytes: 65_536, endpoints: 8, goal: 40 },
  { bytes: 65_536, endpoints: 100, goal: 150 },
];
const KEY = { api: "chat-completions", target: "m", cacheSalt: "" };
const WARM_UP = 3_000;
const COUNTED = 3_000;

const loaded = await loadTexts([], builtIns, ["http://127.0.0.1:1"]);
if (loaded.problems !== undefined) throw new Error("The default config must load");
const services = { clock: systemClock, random: Math.random, log: silentLog, output: { print: () => {}, isTerminal: false } };
const times = new PluginTimes(systemClock, silentLog, 2);
const { active } = buildPluginSet(loaded, services, new KeptState());

for (const { bytes, endpoints: count, goal } of CASES) {
  const load = new LoadTable();
  const index = new PrefixIndex({ blockBytes: 256, maxBytes: 64 * 2 ** 20 });
  const endpoints = Array.from({ length: count }, (_, i) => makeEndpoint(load.slotOf(`e${i}`), { models: ["m"] }));
  const facts = factsOf(endpoints);
  const prompt = new Uint8Array(bytes).map((_, at) => 32 + (at % 90));
  let serial = 0;
  const once = (): number => {
    // Half of the prompt is shared by all, the rest is new: a common system prompt and a question of its own.
    new DataView(prompt.buffer).setUint32(bytes / 2, serial++);
    const from = performance.now();
    const prefix = index.match(KEY, prompt, [[0, bytes]], bytes / 4);
    const request = makeRequest({ model: "m", target: "m", body: prompt, promptTokens: bytes / 4, prefix });
    const nowMs = performance.now();
    const { legs } = decide(request, facts, times.profileFor(active.profile, nowMs), load.at(nowMs), Math.random);
    const endpoint = legs[0]?.order[0];
    const spent = performance.now() - from;
    if (endpoint !== undefined) index.admit(prefix, endpoint.slot);
    return spent;
  };
  for (let i = 0; i < WARM_UP; i++) once();
  const spentMs = Float64Array.from({ length: COUNTED }, once).sort();
  const micros = (share: number) => ((spentMs[Math.floor(share * COUNTED)] ?? 0) * 1000).toFixed(1);
  console.log(
    `${bytes / 1024} KB over ${count} endpoints: median ${micros(0.5)} us, p90 ${micros(0.9)} us (goal: under ${goal})`,
  );
}
