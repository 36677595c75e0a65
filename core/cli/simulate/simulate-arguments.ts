import { ENGINE_TIMES } from "../../engine/engine-times.ts";
import type { ImageSettings } from "../../simulate/images.ts";
import type { SimulationSettings } from "../../simulate/simulation.ts";
import { MAX_SLOTS } from "../../state/load.ts";
import type { Input } from "../frame/command.ts";
import { numberArgument, UsageError } from "../frame/usage.ts";
import { faultArgument } from "./fault-argument.ts";

export interface SimulateArguments {
  readonly traces: readonly string[];
  readonly files: readonly string[];
  readonly settings: SimulationSettings;
  readonly images: ImageSettings;
  readonly seeds: number;
  /** Whether the default config is run with the replicas' exact state too. */
  readonly isExact: boolean;
  /** Whether each decision is compared with the one that the exact state would lead to. */
  readonly explainsLosses: boolean;
  readonly isJson: boolean;
  readonly saveFile: string | undefined;
  readonly svgFile: string | undefined;
}

/** Throws a UsageError. */
export function simulateArguments(input: Input): SimulateArguments {
  if (input.words.length === 0) throw new UsageError("Name the trace to replay: signalbox simulate trace.jsonl.gz");
  const number = (name: string, min: number, max: number, isWhole = false) =>
    numberArgument(`--${name}`, input.text(name) ?? "", min, max, isWhole);
  const replicas = number("replicas", 1, MAX_SLOTS, true);
  const kvTokens = number("kv-tokens", 1_024, 1e9, true);
  return {
    traces: input.words,
    files: input.all("file"),
    settings: {
      replicas,
      model: { ...ENGINE_TIMES, kvTokens, prefillTokensPerS: number("prefill-tps", 1, 1e9, true) },
      speeds: speedsOf(input.text("speeds"), input.all("slow"), replicas),
      timeScale: number("time-scale", 0.000_001, 1e6),
      seed: number("seed", 0, 1e9, true),
      tokenError: number("token-error", 0, 1),
      ...targetsOf(input.text("ttft"), input.text("tpot")),
      faults: input.all("fault").map((text) => faultArgument(text, replicas)),
    },
    images: { share: number("images", 0, 1), areRecognised: !input.has("images-as-text") },
    seeds: number("seeds", 1, 1_000, true),
    isExact: input.has("exact"),
    explainsLosses: input.has("explain-losses"),
    isJson: input.isJson,
    saveFile: input.text("save"),
    svgFile: input.text("svg"),
  };
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
