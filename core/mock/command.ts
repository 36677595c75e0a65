import { parseArgs } from "node:util";
import type { FaultChanges } from "./faults.ts";
import { FAULT_NAMES, FaultError } from "./faults.ts";
import type { MockOptions } from "./options.ts";
import type { MockReplica } from "./replica.ts";
import { startMockReplica } from "./replica.ts";

/** The exit code of a command that has ended, or the replica that now runs until it is closed. */
export type MockRun = { readonly exitCode: number } | { readonly replica: MockReplica };

const HELP = `Usage: signalbox mock [options]

Runs one mock replica: the HTTP interface of a vLLM server, made-up text, realistic timing, faults on demand.

  --port N             port to listen on; 0 takes any free one (default 8000)
  --host H             address to listen on (default 127.0.0.1)
  --model NAME         name of the base model (default mock)
  --adapters A,B       adapters loaded from the start
  --available A,B      adapters loaded by the first request that names them
  --adapter-load-ms N  how long such a load takes (default 0)
  --embedding          serve /v1/embeddings instead of generation
  --loading-ms N       respond with 503 for this long, as while a model loads
  --time-scale X       1 is real time, 0 has no delays (default 1)
  --kv-tokens N        size of the KV cache in tokens (default 524288)
  --api-key KEY        respond with 401 under /v1 to requests without this bearer token
  --echo               output the request as it arrived instead of made-up text
  --fault NAME=VALUE   switch a fault on; may be given several times. VALUE is JSON and may be left out for true:
                       --fault hang, --fault status=503, --fault 'reset={"value":true,"times":1}'
  --help               show this text

Faults: ${FAULT_NAMES.join(", ")}.
GET, POST and DELETE /mock/faults show and change them while it runs; GET /mock/seen shows the requests received.
`;

const FLAGS = {
  port: { type: "string", default: "8000" },
  host: { type: "string", default: "127.0.0.1" },
  model: { type: "string", default: "mock" },
  adapters: { type: "string", default: "" },
  available: { type: "string", default: "" },
  "adapter-load-ms": { type: "string", default: "0" },
  embedding: { type: "boolean", default: false },
  "loading-ms": { type: "string", default: "0" },
  "time-scale": { type: "string", default: "1" },
  "kv-tokens": { type: "string", default: "524288" },
  "api-key": { type: "string", default: "" },
  echo: { type: "boolean", default: false },
  fault: { type: "string", multiple: true, default: [] as string[] },
  help: { type: "boolean", default: false },
} as const;

/** An invalid command line. */
class UsageError extends Error {}

/** Runs `signalbox mock`. Prints one line with the address when it listens, or a sentence that says what is wrong. */
export async function runMock(argv: readonly string[], print: (text: string) => void): Promise<MockRun> {
  try {
    const options = optionsOf(argv);
    if (!options) {
      print(HELP);
      return { exitCode: 0 };
    }
    const replica = await startMockReplica(options);
    print(`Mock replica of ${options.model} at ${replica.url}`);
    return { replica };
  } catch (error) {
    return failure(error, print);
  }
}

function failure(error: unknown, print: (text: string) => void): MockRun {
  if (error instanceof UsageError || error instanceof FaultError) {
    print(`${error.message} See signalbox mock --help.`);
    return { exitCode: 2 };
  }
  const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  print(isTaken ? "The port is in use: choose another with --port, or 0 for any free one." : String(error));
  return { exitCode: 1 };
}

function optionsOf(argv: readonly string[]): MockOptions | undefined {
  const values = parse(argv);
  if (values.help) return undefined;
  if (values.model === "") throw new UsageError("--model needs a name.");
  return {
    port: numberOf("port", values.port, { max: 65_535, isWhole: true }),
    host: values.host,
    model: values.model,
    adapters: namesIn(values.adapters),
    availableAdapters: namesIn(values.available),
    adapterLoadMs: numberOf("adapter-load-ms", values["adapter-load-ms"], { max: 86_400_000, isWhole: true }),
    isEmbedding: values.embedding,
    loadingMs: numberOf("loading-ms", values["loading-ms"], { max: 86_400_000, isWhole: true }),
    timeScale: numberOf("time-scale", values["time-scale"], { max: 1000, isWhole: false }),
    kvTokens: numberOf("kv-tokens", values["kv-tokens"], { min: 16, max: 1e9, isWhole: true }),
    apiKey: values["api-key"],
    isEcho: values.echo,
    // FaultSwitch checks names and values.
    faults: Object.fromEntries(values.fault.map(faultOf)) as FaultChanges,
  };
}

const namesIn = (list: string) => list.split(",").filter((name) => name !== "");

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: FLAGS, allowPositionals: false, strict: true }).values;
  } catch {
    throw new UsageError("signalbox mock does not know one of these arguments, or one lacks its value.");
  }
}

function numberOf(
  name: string,
  text: string,
  bounds: { readonly min?: number; readonly max: number; readonly isWhole: boolean },
): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  const { min = 0, max, isWhole } = bounds;
  if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
  throw new UsageError(`--${name} takes a ${isWhole ? "whole " : ""}number from ${min} to ${max}.`);
}

function faultOf(text: string): [string, unknown] {
  const split = text.indexOf("=");
  if (split < 0) return [text, true];
  try {
    return [text.slice(0, split), JSON.parse(text.slice(split + 1))];
  } catch {
    throw new UsageError("--fault takes NAME or NAME=VALUE, where VALUE is JSON.");
  }
}
