import { ENGINE_TIMES } from "../../engine/engine-times.ts";
import type { Fault, FaultKind } from "../../simulate/faults.ts";
import type { ImageSettings } from "../../simulate/images.ts";
import type { SimulationSettings } from "../../simulate/simulation.ts";
import { MAX_SLOTS } from "../../state/load.ts";
import type { Input } from "../frame/command.ts";
import { numberArgument, UsageError } from "../frame/usage.ts";

/** Latest second of a fault. */
const LAST_S = 1e7;

/** What is simulated, and with how many seeds. Throws a UsageError. */
export function simulateArguments(input: Input) {
  if (input.words.length === 0) throw new UsageError("Name the trace to replay: signalbox simulate trace.jsonl.gz");
  const number = (name: string, min: number, max: number, isWhole = false) =>
    numberArgument(`--${name}`, input.text(name) ?? "", min, max, isWhole);
  const replicas = number("replicas", 1, MAX_SLOTS, true);
  const kvTokens = number("kv-tokens", 1_024, 1e9, true);
  const settings: SimulationSettings = {
    replicas,
    model: { ...ENGINE_TIMES, kvTokens, prefillTokensPerS: number("prefill-tps", 1, 1e9, true) },
    speeds: speedsOf(input.text("speeds"), input.all("slow"), replicas),
    timeScale: number("time-scale", 0.000_001, 1e6),
    seed: number("seed", 0, 1e9, true),
    tokenError: number("token-error", 0, 1),
    ...targetsOf(input.text("ttft"), input.text("tpot")),
    faults: input.all("fault").map((text) => faultArgument(text, replicas)),
  };
  const images: ImageSettings = { share: number("images", 0, 1), areRecognised: !input.has("images-as-text") };
  return { settings, images, seeds: number("seeds", 1, 1_000, true) };
}

/** Nothing without a target. */
function targetsOf(ttft: string | undefined, tpot: string | undefined): Pick<SimulationSettings, "targets"> {
  if (ttft === undefined && tpot === undefined) return {};
  const ttfts = targetList("--ttft", ttft);
  const tpots = targetList("--tpot", tpot);
  const count = Math.max(ttfts.length, tpots.length);
  return {
    targets: Array.from({ length: count }, (_, index) => ({
      ttftMs: ttfts[index % ttfts.length]!,
      tpotMs: tpots[index % tpots.length]!,
    })),
  };
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

function spanOf(text: string | undefined): Pick<Fault, "fromS" | "untilS"> {
  if (text === undefined) return { fromS: 0, untilS: undefined };
  const [from = "", until] = text.split(/-(.*)/s, 2);
  const fromS = numberArgument("--fault (FROM)", from, 0, LAST_S);
  if (until === undefined) return { fromS, untilS: undefined };
  const untilS = numberArgument("--fault (UNTIL)", until, 0, LAST_S);
  if (untilS <= fromS) throw new UsageError(`--fault wants times of which the second is later, such as 60-120, not "${text}".`);
  return { fromS, untilS };
}
