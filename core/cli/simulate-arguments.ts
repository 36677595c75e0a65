import { parseArgs } from "node:util";
import type { ImageSettings } from "../simulate/images.ts";
import { DEFAULT_MODEL } from "../simulate/replica.ts";
import type { SimulationSettings } from "../simulate/simulation.ts";
import { MAX_SLOTS } from "../state/load.ts";
import { FAULT_HELP, faultArgument } from "./fault-argument.ts";
import { numberArgument } from "./number-argument.ts";
import { switchError, UsageError } from "./usage.ts";

export const SIMULATE_HELP = `Usage: signalbox simulate TRACE... [-f CONFIG]... [options]

Replays recorded traffic against modelled replicas: every request is decided by the router's own code and the config's
plugins. Shows the share of cached prompt tokens and the time to first token. Without -f the default config runs.

TRACE is a file of lines like Mooncake's open traces (timestamp in ms, input_length, output_length, hash_ids), or the
access log of a router whose access-log plugin has the parameter "replay: true"; both may be compressed (.gz).

  -f, --file FILE      a config to simulate; several run side by side
  --replicas N         how many replicas (default 8)
  --kv-tokens N        tokens that a replica's KV cache holds (default 524288)
  --prefill-tps N      prompt tokens that a replica computes in a second (default 8000)
  --speeds A,B,...     speed of each replica: 1 is as above, 0.5 takes twice as long (default 1 for all)
  --slow N:SPEED       the same for the Nth replica only; may be given several times
${FAULT_HELP}  --time-scale X       multiplies the times between requests: below 1 means more load (default 1)
  --token-error X      largest error of the router's token counts: 0.3 means up to 30 % too many or too few (default 0)
  --images SHARE       puts an image at the end of this share of prompts: many bytes, few tokens (default 0)
  --images-as-text     the router takes their data for text, as one that knows no images does
  --ttft MS,...        requests ask for their first token within MS milliseconds (x-llm-d-slo-ttft-ms); several: in turn
  --tpot MS,...        the same for each further token, on average (x-llm-d-slo-tpot-ms)
  --seed N             first random seed (default 1)
  --seeds N            runs each config with this many seeds and shows the mean (default 1)
  --exact              adds the row "exact state": the default config with the replicas' true caches, queues and speeds
  --explain-losses     shows what worse picks cost, and by which wrong belief of the router (docs/simulate.md)
  --json               prints the results as JSON
  --save FILE          writes the results as JSON
  --svg FILE           draws the times to first token
  --help               shows this text
`;

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

const SWITCHES = {
  file: { type: "string", short: "f", multiple: true, default: [] as string[] },
  replicas: { type: "string", default: "8" },
  "kv-tokens": { type: "string", default: String(DEFAULT_MODEL.kvTokens) },
  "prefill-tps": { type: "string", default: String(DEFAULT_MODEL.prefillTokensPerS) },
  speeds: { type: "string", default: "" },
  slow: { type: "string", multiple: true, default: [] as string[] },
  fault: { type: "string", multiple: true, default: [] as string[] },
  "time-scale": { type: "string", default: "1" },
  "token-error": { type: "string", default: "0" },
  images: { type: "string", default: "0" },
  "images-as-text": { type: "boolean", default: false },
  ttft: { type: "string" },
  tpot: { type: "string" },
  seed: { type: "string", default: "1" },
  seeds: { type: "string", default: "1" },
  exact: { type: "boolean", default: false },
  "explain-losses": { type: "boolean", default: false },
  json: { type: "boolean", default: false },
  save: { type: "string" },
  svg: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** Undefined for --help. Throws a UsageError. */
export function readSimulateArguments(argv: readonly string[]): SimulateArguments | undefined {
  const { values, positionals } = parse(argv);
  if (values.help) return undefined;
  if (positionals.length === 0) throw new UsageError("Name the trace to replay: signalbox simulate trace.jsonl.gz");
  const whole = (name: WholeSwitch, min: number, max: number) => numberArgument(`--${name}`, values[name], min, max, true);
  const replicas = whole("replicas", 1, MAX_SLOTS);
  return {
    traces: positionals,
    files: values.file,
    settings: {
      replicas,
      model: { ...DEFAULT_MODEL, kvTokens: whole("kv-tokens", 1_024, 1e9), prefillTokensPerS: whole("prefill-tps", 1, 1e9) },
      speeds: speedsOf(values.speeds, values.slow, replicas),
      timeScale: numberArgument("--time-scale", values["time-scale"], 0.000_001, 1e6),
      seed: whole("seed", 0, 1e9),
      tokenError: numberArgument("--token-error", values["token-error"], 0, 1),
      ...targetsOf(values),
      faults: values.fault.map((text) => faultArgument(text, replicas)),
    },
    images: { share: numberArgument("--images", values.images, 0, 1), areRecognised: !values["images-as-text"] },
    seeds: whole("seeds", 1, 1_000),
    isExact: values.exact,
    explainsLosses: values["explain-losses"],
    isJson: values.json,
    saveFile: values.save,
    svgFile: values.svg,
  };
}

type WholeSwitch = "replicas" | "kv-tokens" | "prefill-tps" | "seed" | "seeds";

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: SWITCHES, allowPositionals: true, strict: true });
  } catch (thrown) {
    throw switchError(thrown, '"signalbox simulate --help"');
  }
}

/** Nothing without a target. */
function targetsOf({ ttft, tpot }: { readonly ttft?: string; readonly tpot?: string }): Pick<SimulationSettings, "targets"> {
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

function speedsOf(list: string, slow: readonly string[], replicas: number): readonly number[] {
  const listed = list === "" ? [] : list.split(",").map((text) => speedOf("--speeds", text));
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
