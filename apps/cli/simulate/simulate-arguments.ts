import { type Input, UsageError } from "../../../config/command.ts";
import { MAX_SLOTS } from "../../../core/state/load.ts";
import { ENGINE_TIMES } from "../../lab/engine/engine-times.ts";
import type { Fault, FaultKind, FaultSpan } from "../../lab/simulate/faults.ts";
import type { ImageSettings } from "../../lab/simulate/images.ts";
import type { SimulationSettings } from "../../lab/simulate/simulation.ts";
import { endpointsIn, type Trace } from "../../lab/simulate/trace.ts";
import { numberArgument } from "../frame/usage.ts";

const USUAL_HOURS = 2;
const MOST_HOURS = 1_000;
const MOST_ROUTERS = 64;
const MOST_SESSIONS = 10_000;
/** Latest second of a fault. */
const LAST_S = 1e7;

/** Where neither a switch nor a trace says how many replicas there are. */
const USUAL_REPLICAS = 8;

/** What is simulated, and with how many seeds; `recorded`: what may say how many replicas there were. Throws a UsageError. */
export function simulateArguments(input: Input, recorded: readonly Trace[] = []) {
  if (input.words.length === 0) throw new UsageError("Name the trace to replay: signalbox simulate trace.jsonl.gz");
  const number = (name: string, min: number, max: number, isWhole = false) =>
    numberArgument(`--${name}`, input.text(name) ?? "", min, max, isWhole);
  const were = Math.min(MAX_SLOTS, Math.max(0, ...recorded.map(endpointsIn)));
  const replicas = input.text("replicas") === undefined ? were || USUAL_REPLICAS : number("replicas", 1, MAX_SLOTS, true);
  const kvTokens = number("kv-tokens", 1_024, 1e9, true);
  const targets = targetsOf(input.text("ttft"), input.text("tpot"));
  const transfer = { transferMs: number("transfer-ms", 0, 1e6), transferTokensPerS: number("transfer-tps", 1, 1e9) };
  const cacheEvents = { delayMs: number("events-delay", 0, 60_000), loss: number("events-loss", 0, 0.99) };
  const adapters = {
    maxLoras: number("max-loras", 0, 1_024, true),
    maxCpuLoras: number("max-cpu-loras", 0, 65_536, true),
    adapterColdMs: number("adapter-cold-ms", 0, 1e6),
    adapterWarmMs: number("adapter-warm-ms", 0, 1e6),
  };
  const settings: SimulationSettings = {
    replicas,
    ...(adapters.maxLoras > 0 && { adapters }),
    model: { ...ENGINE_TIMES, ...transfer, kvTokens, prefillTokensPerS: number("prefill-tps", 1, 1e9, true) },
    ...(input.text("prefill") !== undefined && { prefillers: number("prefill", 0, replicas - 1, true) }),
    speeds: speedsOf(input.text("speeds"), input.all("slow"), replicas),
    timeScale: number("time-scale", 0.000_001, 1e6),
    seed: number("seed", 0, 1e9, true),
    tokenError: number("token-error", 0, 1),
    ...(targets && { targets }),
    ...sessionsOf(input, number),
    faults: input.all("fault").map((text) => faultArgument(text, replicas)),
    routers: number("routers", 1, MOST_ROUTERS, true),
    ...(input.has("events") && { cacheEvents, reportsCached: true }),
    carrier: { delayMs: number("log-delay", 0, 60_000), loss: number("log-loss", 0, 0.99) },
  };
  if (settings.routers !== 1 && settings.faults.length > 0)
    throw new UsageError("--fault is for one router; leave out --routers, or the faults.");
  const images: ImageSettings = { share: number("images", 0, 1), areRecognised: !input.has("images-as-text") };
  return { settings, images, seeds: number("seeds", 1, 1_000, true), promptScale: number("prompt-scale", 0.01, 1_000) };
}

/** Nothing where the sessions of a trace begin as they were recorded. */
function sessionsOf(input: Input, number: (name: string, min: number, max: number, isWhole?: boolean) => number) {
  if (input.text("sessions-per-replica") === undefined) {
    const extra = ["hours", "warm-up-hours"].find((name) => input.text(name) !== undefined);
    if (extra !== undefined) throw new UsageError(`--${extra} is for a fixed number of sessions; add --sessions-per-replica 8.`);
    return {};
  }
  const hours = input.text("hours") === undefined ? USUAL_HOURS : number("hours", 0.001, MOST_HOURS);
  const warmUpHours = input.text("warm-up-hours") === undefined ? hours / 4 : number("warm-up-hours", 0, MOST_HOURS);
  if (warmUpHours >= hours)
    throw new UsageError(`--warm-up-hours must be less than --hours, which are ${hours}: nothing would be left to measure.`);
  return { sessions: { perReplica: number("sessions-per-replica", 1, MOST_SESSIONS, true), hours, warmUpHours } };
}

/** Undefined without a target. */
function targetsOf(ttft: string | undefined, tpot: string | undefined): SimulationSettings["targets"] | undefined {
  if (ttft === undefined && tpot === undefined) return undefined;
  const ttfts = targetList("--ttft", ttft);
  const tpots = targetList("--tpot", tpot);
  const count = Math.max(ttfts.length, tpots.length);
  return Array.from({ length: count }, (_, index) => ({
    ttftMs: ttfts[index % ttfts.length]!,
    tpotMs: tpots[index % tpots.length]!,
  }));
}

function targetList(name: string, list: string | undefined): readonly number[] {
  if (list === undefined) return [Number.POSITIVE_INFINITY];
  return list.split(",").map((text) => numberArgument(name, text, 0.001, 86_400_000));
}

function speedsOf(list: string | undefined, slow: readonly string[], replicas: number): readonly number[] {
  const listed = list === undefined || list === "" ? [] : list.split(",").map((text) => speedOf("--speeds", text));
  if (listed.length > replicas)
    throw new UsageError(`--speeds lists ${listed.length} speeds for ${replicas} replicas; add --replicas ${listed.length}.`);
  const speeds = Array.from({ length: replicas }, (_, index) => listed[index] ?? 1);
  for (const text of slow) {
    const [place = "", speed = ""] = text.split(":", 2);
    speeds[numberArgument("--slow", place, 1, replicas, true) - 1] = speedOf("--slow", speed);
  }
  return speeds;
}

const speedOf = (name: string, text: string) => numberArgument(name, text, 0.001, 1_000);

/** Reads "2:slow:4:60-120": place, kind, what the kind needs, and times in seconds. Throws UsageError. */
function faultArgument(text: string, replicas: number): Fault {
  const [place = "", kind = "", ...rest] = text.split(":");
  const replica = numberArgument("--fault (replica)", place, 1, replicas, true) - 1;
  const what = kindOf(kind, rest);
  const [times, ...others] = rest;
  if (others.length > 0) throw new UsageError(`--fault wants N:KIND[:FROM[-UNTIL]], not "${text}".`);
  if (kind === "restart" && times === undefined)
    throw new UsageError(`--fault wants a time at which replica ${place} restarts, for example ${place}:restart:60.`);
  return { replica, ...what, ...spanOf(times) };
}

/** As it is written on the command line. */
export function faultText(fault: Fault): string {
  const value = fault.kind === "slow" ? [fault.factor] : fault.kind === "flap" ? [fault.seconds] : [];
  const until = fault.untilS === undefined ? "" : `-${fault.untilS}`;
  const times = fault.fromS === 0 && until === "" && fault.kind !== "restart" ? [] : [`${fault.fromS}${until}`];
  return [fault.replica + 1, fault.kind, ...value, ...times].join(":");
}

/** Takes what belongs to the kind out of `rest`. */
function kindOf(kind: string, rest: string[]): FaultKind {
  switch (kind) {
    case "error":
    case "hang":
    case "restart":
      return { kind };
    case "slow":
      return { kind, factor: numberArgument("--fault (slow:FACTOR)", rest.shift() ?? "", 1, 1_000) };
    case "flap":
      return { kind, seconds: numberArgument("--fault (flap:SECONDS)", rest.shift() ?? "", 0.001, LAST_S) };
    default:
      throw new UsageError(`--fault knows error, hang, slow:FACTOR, flap:SECONDS and restart, not "${kind}".`);
  }
}

function spanOf(text: string | undefined): FaultSpan {
  if (text === undefined) return { fromS: 0, untilS: undefined };
  const [from = "", until] = text.split(/-(.*)/s, 2);
  const fromS = numberArgument("--fault (FROM)", from, 0, LAST_S);
  if (until === undefined) return { fromS, untilS: undefined };
  const untilS = numberArgument("--fault (UNTIL)", until, 0, LAST_S);
  if (untilS <= fromS) throw new UsageError(`--fault wants times of which the second is later, such as 60-120, not "${text}".`);
  return { fromS, untilS };
}
