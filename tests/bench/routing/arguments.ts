import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { numberArgument, switchError } from "../../../apps/cli/frame/usage.ts";
import { UsageError } from "../../../config/command.ts";
import { REPLICAS } from "./matrix.ts";

export const HELP = `Usage: npm run bench:routing -- [TRACE...] [options]

Compares the default config with the policies of examples/policies/ and with the default config that knows the replicas'
exact state. Without a TRACE it takes those of the folder beside the checkout. Any trace of "signalbox simulate" will do.

  --whole        every load with every number of replicas and every size of cache (about twice the time)
  --replicas N   only the cells with this number of replicas: 4, 8 or 16
  --seeds N      runs each policy in each cell with this many seeds and takes the mean (default: until there are 4,000 requests)
  --jobs N       how many processes run at once (default: one for each core)
  --json FILE    writes every figure as JSON
  --help         shows this text
`;

export interface RoutingArguments {
  readonly traces: readonly string[];
  readonly isWhole: boolean;
  /** Undefined: any number. */
  readonly replicas: number | undefined;
  /** Undefined: as many as each trace needs. */
  readonly seeds: number | undefined;
  readonly jobs: number;
  readonly jsonFile: string | undefined;
}

const SWITCHES = {
  whole: { type: "boolean", default: false },
  replicas: { type: "string" },
  seeds: { type: "string" },
  jobs: { type: "string", default: String(availableParallelism()) },
  json: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const;

/** `usual`: the traces to take if none is named. Undefined for --help. Throws a UsageError. */
export function readArguments(argv: readonly string[], usual: readonly string[]): RoutingArguments | undefined {
  const { values, positionals } = parse(argv);
  if (values.help) return undefined;
  const traces = positionals.length === 0 ? usual : positionals;
  if (traces.length === 0) throw new UsageError("Name a trace: npm run bench:routing -- trace.jsonl.gz");
  const missing = traces.find((trace) => !existsSync(trace));
  if (missing !== undefined) throw new UsageError(`There is no file ${missing}; name a trace to replay.`);
  return {
    traces,
    isWhole: values.whole,
    replicas: values.replicas === undefined ? undefined : replicasOf(values.replicas),
    seeds: values.seeds === undefined ? undefined : numberArgument("--seeds", values.seeds, 1, 100, true),
    jobs: numberArgument("--jobs", values.jobs, 1, 256, true),
    jsonFile: values.json,
  };
}

function replicasOf(text: string): number {
  const replicas = REPLICAS.find((count) => String(count) === text);
  if (replicas !== undefined) return replicas;
  throw new UsageError(`--replicas wants ${REPLICAS.join(" or ")}, not "${text}".`);
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: SWITCHES, allowPositionals: true, strict: true });
  } catch (thrown) {
    throw switchError(thrown, '"npm run bench:routing -- --help"');
  }
}
