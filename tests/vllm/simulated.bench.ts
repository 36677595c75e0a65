/**
 * How near the simulator is to real engines: the same closed loop of conversations on two real vLLM servers with small caches and in the
 * simulator, with several policies: `SIGNALBOX_VLLM=DIR node --import tsx --test tests/vllm/simulated.bench.ts`.
 */
import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import { ENGINE_TIMES, type EngineTimes } from "../../apps/lab/engine/engine-times.ts";
import { table } from "../../core/report/table.ts";
import { orderVerdict } from "../bench/live/verdict.ts";
import { type RealVllm, startVllm, vllmDir } from "../support/real-vllm.ts";
import { countTokens } from "./conversation-load.ts";
import { cacheTokens, speedsOf, workBetween, workOf } from "./engine-speeds.ts";
import { type Loop, type LoopFigures, type Played, playOnServers, playSimulated } from "./session-play.ts";
import { BLOCK_TOKENS, type TraceShape, traceOf, withPauses } from "./session-trace.ts";
import { shareGptTexts } from "./sharegpt.ts";

const PORTS = [8171, 8172] as const;
const CONVERSATIONS = 40;
const SHAPE: TraceShape = { turns: 6, firstChars: 1500, laterChars: 150, answerTokens: 24, thinkMs: 1500 };
/** Too few for the conversations that are under way. */
const BLOCKS = 400;
const PER_REPLICA = 6;
const CHUNK_TOKENS = 2048;
/** As startVllm sets it. */
const MAX_RUNNING = 16;
const LOOP = { perReplica: PER_REPLICA, hours: 100 / 3600, warmUpHours: 25 / 3600 };
const SEEDS = [1, 2, 3, 4, 5];

/** A profile of one scorer or picker that knows nothing of caches; the router's index is there all the same. */
const blind = (plugin: string) => `  plugins:
    - { type: prefix-cache }
    - { type: ${plugin} }
  profiles:
    - { name: default, plugins: [ { pluginRef: ${plugin} } ] }
`;
/** The simulator ejects nothing either. */
const NO_EJECTION = "  ejection: false\n";
const POLICIES = [
  { name: "default", spec: "" },
  { name: "gate", spec: "  sessions: { gate: true }\n" },
  { name: "least-request", spec: blind("active-request") },
  { name: "round-robin", spec: blind("round-robin") },
].map(({ name, spec }) => ({ name, spec: NO_EJECTION + spec }));

interface Compared {
  readonly name: string;
  readonly real: Played;
  /** By seed. */
  readonly simulated: readonly LoopFigures[];
}

const dir = vllmDir();
const texts = shareGptTexts();

if (dir === undefined)
  test("the simulator beside real vLLMs", (t) => t.skip("SIGNALBOX_VLLM names no folder with venv/bin/vllm"));
else if (texts === undefined) test("the simulator beside real vLLMs", (t) => t.skip("The ShareGPT trace is not here"));
else describe("the simulator beside real vLLM servers", () => compare(dir, texts.slice(0, CONVERSATIONS)));

function compare(vllm: string, chosen: readonly string[]): void {
  let servers: readonly RealVllm[] = [];
  let compared: readonly Compared[] = [];

  before(
    async () => {
      const flags = ["--num-gpu-blocks-override", String(BLOCKS), "--max-num-batched-tokens", String(CHUNK_TOKENS)];
      const started = await Promise.allSettled(PORTS.map((port) => startVllm({ dir: vllm, port, flags })));
      servers = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      for (const one of started) if (one.status === "rejected") throw one.reason;
      compared = await playAll(
        servers.map(({ url }) => url),
        chosen,
      );
      for (const line of linesOf(compared)) console.log(line);
    },
    { timeout: 1_000_000 },
  );
  after(() => Promise.all(servers.map((server) => server.stop())));

  it("policies come in the same order of hits", () => {
    const missed = ({ hitRatio }: LoopFigures) => 1 - hitRatio;
    const { clear, swapped } = orderVerdict(
      compared.map(({ name, real, simulated }) => ({ name, live: missed(real), simulated: simulated.map(missed) })),
    );
    console.log(`${clear.length} pairs are told apart by the simulator, ${swapped.length} of them are the other way round`);
    assert.deepEqual(swapped, []);
  });
}

async function playAll(urls: readonly string[], chosen: readonly string[]): Promise<readonly Compared[]> {
  const trace = await traceOf(chosen, SHAPE, (messages) => countTokens(urls[0]!, messages));
  const loop: Loop = { ...LOOP, trace, seed: SEEDS[0]! };
  const before = await workOf(urls);
  const reals: Played[] = [];
  for (const policy of POLICIES) {
    reals.push(await playOnServers(urls, loop, policy, { texts: chosen, shape: SHAPE }));
    console.log(`${policy.name}: ${JSON.stringify(reals.at(-1))}`);
  }
  const work = workBetween(before, await workOf(urls));
  const model: EngineTimes = {
    ...ENGINE_TIMES,
    ...{ ...speedsOf(work), overheadMs: 0, chunkTokens: CHUNK_TOKENS, maxRunning: MAX_RUNNING },
    ...{ kvTokens: await cacheTokens(urls[0]!, BLOCK_TOKENS), blockTokens: BLOCK_TOKENS },
  };
  const turnMs = reals.reduce((sum, { turnMs }) => sum + turnMs, 0) / reals.length;
  const outsideMs = Math.max(0, turnMs - (1000 * work.insideS) / work.requests);
  console.log(
    `${trace.requests.length} turns; the simulator's engines: ${JSON.stringify(model)}, ${outsideMs.toFixed(0)} ms outside of them`,
  );
  const slower = { ...loop, trace: withPauses(trace, SHAPE, outsideMs) };
  const compared: Compared[] = [];
  for (const [at, { name, spec }] of POLICIES.entries()) {
    const simulated: LoopFigures[] = [];
    for (const seed of SEEDS) simulated.push(await playSimulated(urls.length, { ...slower, seed }, spec, model));
    compared.push({ name, real: reals[at]!, simulated });
  }
  return compared;
}

const TITLES = ["", "hits", "without generated text", "sim", "sim, 5 orders", "error", "turns/h", "sim"];

/** The simulator's first seed has the sessions in the servers' order. */
function linesOf(compared: readonly Compared[]): readonly string[] {
  const rows = compared.map(({ name, real, simulated }) => {
    const same = simulated[0]!;
    const hits = simulated.map(({ hitRatio }) => hitRatio);
    return [
      name,
      percent(real.hitRatio),
      percent(real.hitRatio - real.generatedRatio),
      percent(same.hitRatio),
      `${percent(Math.min(...hits))} to ${percent(Math.max(...hits))}`,
      `${(100 * (same.hitRatio - real.hitRatio)).toFixed(1)} points`,
      ...[real.turnsPerHour.toFixed(0), same.turnsPerHour.toFixed(0)],
    ];
  });
  return table(
    TITLES.map((_, index) => (index === 0 ? "left" : "right")),
    [TITLES, ...rows],
  );
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
