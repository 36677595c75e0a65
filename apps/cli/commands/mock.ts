import { CommandError, type Input, type Switch, UsageError } from "../../../config/command.ts";
import { didYouMean } from "../../../config/read/problems.ts";
import { wrappedLines } from "../../../core/report/text-width.ts";
import { FAULT_NAMES, type FaultChanges, FaultError } from "../../lab/mock/faults.ts";
import type { MockOptions } from "../../lab/mock/options.ts";
import { type MockReplica, startMockReplica } from "../../lab/mock/replica.ts";
import { CHECKS, ROLES, TRANSFERS, type TransferOptions, transferSettings } from "../../lab/mock/transfer/options.ts";
import { readInput } from "../frame/command.ts";
import { helpColumns, switchLines } from "../frame/help.ts";
import { portError } from "../start/port-error.ts";
import { stopSignal } from "../start/signals.ts";

const FAULT = `switch a fault on; may be given several times. VALUE is JSON and may be left out for true:
--fault hang, --fault status=503, --fault 'reset={"value":true,"times":1}'`;

const CHECK = "400 for blocks that were not promised, are gone or are of another prompt; vllm finds nothing wrong with them";

const SWITCHES: readonly Switch[] = [
  { name: "port", value: "N", default: "8000", meaning: "port to listen on; 0 takes any free one" },
  { name: "host", value: "H", default: "127.0.0.1", meaning: "address to listen on" },
  { name: "model", value: "NAME", default: "mock", meaning: "name of the base model" },
  { name: "adapters", value: "A,B", meaning: "adapters loaded from the start" },
  { name: "available", value: "A,B", meaning: "adapters loaded by the first request that names them" },
  { name: "adapter-load-ms", value: "N", default: "0", meaning: "how long such a load takes" },
  { name: "max-loras", value: "N", default: "2", meaning: "adapters that run at the same time; requests for others wait" },
  { name: "embedding", meaning: "serve /v1/embeddings instead of generation" },
  { name: "loading-ms", value: "N", meaning: "respond with 503 for this long, as while a model loads" },
  { name: "time-scale", value: "X", default: "1", meaning: "1 is real time, 0 has no delays" },
  { name: "kv-tokens", value: "N", default: "524288", meaning: "size of the KV cache in tokens" },
  { name: "api-key", value: "KEY", meaning: "respond with 401 under /v1 to requests without this bearer token" },
  { name: "echo", meaning: "output the request as it arrived instead of made-up text" },
  { name: "fault", value: "NAME=VALUE", isRepeated: true, meaning: FAULT },
  { name: "role", value: ROLES.join("|"), meaning: "which legs of a pair it takes" },
  { name: "transfer", value: TRANSFERS.join("|"), meaning: "how blocks move between a pair; nixl where a --role is given" },
  { name: "transfer-check", value: CHECKS.join("|"), default: "strict", meaning: CHECK },
  { name: "transfer-tokens-per-s", value: "N", default: "150000", meaning: "how fast a prompt moves" },
  { name: "transfer-ms", value: "N", default: "10", meaning: "what every transfer takes besides" },
  { name: "handshake-ms", value: "N", default: "7000", meaning: "what the first one of two replicas takes besides" },
  { name: "hold-ms", value: "N", meaning: "how long blocks are held (30000), or an SGLang room waits (300000)" },
  { name: "transfer-host", value: "H", meaning: "where other replicas find this one; by default --host" },
  { name: "bootstrap-port", value: "N", default: "0", meaning: "another port, for SGLang's rooms; 0 for none" },
  { name: "help", meaning: "show this text" },
];

const helpText = (columns: number) =>
  wrappedLines(
    `Usage: signalbox mock [options]

Runs one mock replica: the HTTP interface of a vLLM server, made-up text, realistic timing, faults on demand.

${switchLines(
  SWITCHES.map((each) => ({ ...each, isRepeated: false })),
  columns,
).join("\n")}

Faults: ${FAULT_NAMES.join(", ")}.
GET, POST and DELETE /mock/faults show and change them while it runs; GET /mock/seen shows the requests received; GET /mock/transfers shows what is held for other replicas.

Pairs: mocks with --role prefill and --role decode move the blocks of a prompt as vLLM does with NIXL. With --transfer side-car, a decode replica first has the replica named by x-prefiller-host-port prefill, as the side-car of llm-d does. With --transfer sglang, both legs meet in the bootstrap_room at bootstrap_host and bootstrap_port: the prefill replica's --port or --bootstrap-port.
`,
    columns,
  );

/** `signalbox mock`: runs one mock replica until SIGINT or SIGTERM. Returns the exit code. */
export async function mock(argv: readonly string[], asCalled: (text: string) => string): Promise<number> {
  // Before its first line: whoever reads it may stop the replica at once.
  const stopped = stopSignal();
  const replica = await runMock(argv, (text) => void process.stdout.write(asCalled(`${text}\n`)));
  if (replica === undefined) return 0;
  await stopped;
  await replica.close();
  return 0;
}

/** Prints one line with the address when the replica listens, or the help. Throws CommandError, which says what is wrong. */
export async function runMock(argv: readonly string[], print: (text: string) => void): Promise<MockReplica | undefined> {
  try {
    const input = inputOf(argv);
    if (input.has("help")) {
      print(helpText(helpColumns()));
      return undefined;
    }
    const options = optionsOf(input);
    const replica = await startMockReplica(options).catch((error: unknown) => notListening(error, options));
    print(`Mock replica of ${options.model} at ${replica.url}`);
    return replica;
  } catch (error) {
    if (error instanceof UsageError || error instanceof FaultError)
      throw new UsageError(error.message.includes("--help") ? error.message : `${error.message} See signalbox mock --help.`);
    throw error;
  }
}

/** Throws a CommandError where an address can't be listened on, and any other error as it is. */
async function notListening(error: unknown, { host = "", port = 0, bootstrapPort = 0 }: MockOptions): Promise<never> {
  const taken = (error as { readonly port?: unknown }).port;
  const isBootstrap = taken === bootstrapPort && taken !== port;
  const address = { host, port: isBootstrap ? bootstrapPort : port };
  const named = await portError(error, address, isBootstrap ? "--bootstrap-port" : "--port", "--host");
  throw named === error ? error : new CommandError(1, (named as Error).message);
}

function inputOf(argv: readonly string[]): Input {
  const input = readInput(argv, { name: "mock", switches: SWITCHES });
  if (input.words.length > 0) throw new UsageError(`signalbox mock takes switches alone, not "${input.words[0]}".`);
  return input;
}

function optionsOf(input: Input): MockOptions {
  const text = (name: string) => input.text(name) ?? "";
  const names = (name: string) => text(name).split(",").filter(Boolean);
  const number = (name: string, max: number, min = 0, isWhole = true) => {
    const given = input.text(name) ?? "0";
    const value = given.trim() === "" ? Number.NaN : Number(given);
    if (value >= min && value <= max && (!isWhole || Number.isInteger(value))) return value;
    throw new UsageError(`--${name} takes a ${isWhole ? "whole " : ""}number from ${min} to ${max}.`);
  };
  if (text("model") === "") throw new UsageError("--model needs a name.");
  return {
    port: number("port", 65_535),
    host: text("host"),
    model: text("model"),
    adapters: names("adapters"),
    availableAdapters: names("available"),
    adapterLoadMs: number("adapter-load-ms", 86_400_000),
    maxLoras: number("max-loras", 1024, 1),
    isEmbedding: input.has("embedding"),
    loadingMs: number("loading-ms", 86_400_000),
    timeScale: number("time-scale", 1000, 0, false),
    kvTokens: number("kv-tokens", 1e9, 16),
    apiKey: text("api-key"),
    isEcho: input.has("echo"),
    ...transferOptions(input, number),
    // FaultSwitch checks names and values.
    faults: Object.fromEntries(input.all("fault").map(faultOf)) as FaultChanges,
  };
}

type ReadNumber = (name: string, max: number, min?: number, isWhole?: boolean) => number;

function transferOptions(input: Input, number: ReadNumber): TransferOptions {
  const role = oneOf(input, "role", ROLES);
  const transfer = oneOf(input, "transfer", TRANSFERS);
  const check = oneOf(input, "transfer-check", CHECKS);
  const options: TransferOptions = {
    ...(role && { role }),
    ...(transfer && { transfer }),
    ...(check && { transferCheck: check }),
    transferTokensPerS: number("transfer-tokens-per-s", 1e9, 1),
    transferMs: number("transfer-ms", 86_400_000),
    handshakeMs: number("handshake-ms", 86_400_000),
    ...(input.text("hold-ms") !== undefined && { holdMs: number("hold-ms", 86_400_000) }),
    transferHost: input.text("transfer-host") ?? "",
    bootstrapPort: number("bootstrap-port", 65_535),
  };
  const settings = transferSettings(options);
  if (settings.transfer === "sglang" && settings.role === "both")
    throw new UsageError("--transfer sglang needs --role prefill or --role decode: SGLang's servers take one kind of leg.");
  if (settings.transfer === "side-car" && settings.role === "prefill")
    throw new UsageError("A side-car runs beside decode replicas: give this one --transfer nixl, or --role decode.");
  if (settings.transfer === "none" && role !== undefined)
    throw new UsageError("--role needs a --transfer: nixl, side-car or sglang.");
  return options;
}

function oneOf<Word extends string>(input: Input, name: string, words: readonly Word[]): Word | undefined {
  const given = input.text(name);
  const word = words.find((each) => each === given);
  if (given !== undefined && word === undefined) throw new UsageError(`--${name} takes one of ${words.join(", ")}.`);
  return word;
}

function faultOf(text: string): [string, unknown] {
  const split = text.indexOf("=");
  const name = split < 0 ? text : text.slice(0, split);
  const hint = FAULT_NAMES.some((each) => each === name) ? "" : didYouMean(name, FAULT_NAMES);
  if (hint !== "") throw new UsageError(`There is no fault "${name}". ${hint}`);
  if (split < 0) return [text, true];
  try {
    return [text.slice(0, split), JSON.parse(text.slice(split + 1))];
  } catch {
    throw new UsageError("--fault takes NAME or NAME=VALUE, where VALUE is JSON.");
  }
}
