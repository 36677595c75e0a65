import assert from "node:assert/strict";
import { after } from "node:test";
import { exchange, openClient, postBytes, type RawClient, readAnswer } from "./raw-client.ts";
import { outstanding, startTestRouter, type TestRouter, type TestRouterOptions, waitUntil } from "./router.ts";
import { CHAT, event } from "./scripted-pool.ts";
import {
  chunkOf,
  jsonAnswer,
  LAST_CHUNK,
  type Script,
  type ScriptedReplica,
  STREAM_HEAD,
  startScriptedReplica,
} from "./scripted-replica.ts";

/** Numbers that JavaScript does not hold, and spaces: what passes is bytes. */
export const PARAMETERS =
  '{ "do_remote_prefill": true, "remote_engine_id":"e-1","remote_block_ids":[[18446744073709551615, 9007199254740993]],"remote_host":"10.0.0.1","remote_port":5600,"tp_size":1.0 }';

/** A prompt's response, as vLLM has it; "" for one without parameters. */
export const prefilled = (parameters = PARAMETERS) =>
  jsonAnswer(
    `{"id":"prefill-id","object":"chat.completion","choices":[{"message":{"role":"assistant","content":"P"}}],"usage":{"prompt_tokens":2000,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":16}}${parameters === "" ? "" : `,"kv_transfer_params":${parameters}`}}`,
  );

const USAGE = '"usage":{"prompt_tokens":2000,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":0}}';
export const DECODED = jsonAnswer(
  `{"id":"decode-id","object":"chat.completion","choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],${USAGE},"kv_transfer_params":null}`,
);
export const DECODED_STREAM = `${STREAM_HEAD}${chunkOf(event(1))}${chunkOf(`data: {"id":"decode-id","choices":[],${USAGE}}\n\n`)}${chunkOf("data: [DONE]\n\n")}${LAST_CHUNK}`;

/** Answers every request with these bytes. */
export const write =
  (bytes: string): Script =>
  (_request, socket) =>
    void socket.write(bytes);

export const answerPrompt: Script = (_request, socket) => void socket.write(prefilled());
export const answerDecode: Script = ({ body }, socket) =>
  void socket.write(/"stream" *: *true/.test(body.toString()) ? DECODED_STREAM : DECODED);

/** Replicas with these scripts, the first ones for prompts, and a router whose pairs are always made; they end after the test file. */
export interface PairPoolOptions extends TestRouterOptions {
  readonly prefill?: readonly Script[];
  readonly decode?: readonly Script[];
  /** Replicas without a role. */
  readonly whole?: readonly Script[];
  /** Members of `spec.disaggregation`; undefined: there is none. */
  readonly pairs?: string | undefined;
  readonly models?: readonly string[];
  /** The value of `pool.roles`; endpoints are then labelled `part` instead. */
  readonly roles?: string;
  /** Further labels of the endpoints for prompts. */
  readonly prefillLabels?: string;
}

export interface PairPool {
  readonly router: TestRouter;
  readonly prefill: readonly ScriptedReplica[];
  readonly decode: readonly ScriptedReplica[];
  readonly whole: readonly ScriptedReplica[];
  /** What the router says that pairs have done. */
  readonly pairs: () => PairsShown;
}

interface PairsShown {
  readonly paired: number;
  readonly alone: number;
  readonly unpairable: number;
  readonly failed: number;
  readonly causes: Readonly<Record<string, number>>;
  readonly prefill: readonly string[];
  readonly decode: readonly string[];
}

/** Endpoints of a role are picked one after the other. */
const IN_TURN = "  profiles: [ { name: default, plugins: [ { pluginRef: round-robin } ] } ]\n";

export async function pairPool(options: PairPoolOptions = {}): Promise<PairPool> {
  const { prefill: prefillScripts = [answerPrompt], decode: decodeScripts = [answerDecode], whole: wholeScripts = [] } = options;
  const { models, roles, prefillLabels = "", spec = IN_TURN, ...rest } = options;
  const start = (scripts: readonly Script[]) => Promise.all(scripts.map((script) => startScriptedReplica(script, models)));
  const [prefill, decode, whole] = await Promise.all([start(prefillScripts), start(decodeScripts), start(wholeScripts)]);
  const pairs = "pairs" in options ? options.pairs : "decider: always";
  const section = pairs === undefined ? "" : `  disaggregation: { ${pairs} }\n`;
  const key = roles === undefined ? "llm-d.ai/role" : "part";
  const entries = [
    ...prefill.map(({ url }, n) => `{ name: p${n}, url: "${url}", labels: { ${key}: prefill${prefillLabels} } }`),
    ...decode.map(({ url }, n) => `{ name: d${n}, url: "${url}", labels: { ${key}: decode } }`),
    ...whole.map(({ url }, n) => `{ name: w${n}, url: "${url}" }`),
  ];
  const pool = `  pool: { endpoints: [ ${entries.join(", ")} ]${roles === undefined ? "" : `, roles: ${roles}`} }\n`;
  const router = await startTestRouter([], {
    ready: entries.length,
    ...rest,
    spec: `${pool}${section}${spec}`,
  });
  after(async () => {
    await router.close();
    await Promise.all([...prefill, ...decode, ...whole].map((replica) => replica.close()));
  });
  const shown = () => (router.router.features.status() as { readonly pairs: PairsShown }).pairs;
  return { router, prefill, decode, whole, pairs: shown };
}

/** Long enough for a whole block of any cache. */
export const PROMPT = "once upon a time there was a pair ".repeat(30);
export const chatOf = (extra = "", prompt = PROMPT) => `{"model":"m","messages":[{"role":"user","content":"${prompt}"}]${extra}}`;

export const askPair = async ({ router }: PairPool, extra = "", path = CHAT, lines = "") => {
  const answer = await exchange(router.port, postBytes(path, extra.startsWith("{") ? extra : chatOf(extra), lines));
  return { ...readAnswer(answer), answer };
};

/** A client that has sent its request and reads what comes. */
export async function beginPair({ router }: PairPool, extra = "", body = chatOf(extra)): Promise<RawClient> {
  const client = await openClient(router.port);
  client.send(postBytes(CHAT, body));
  return client;
}

/** The bodies that a replica has got. */
export const bodiesOf = ({ requests }: ScriptedReplica) => requests.map(({ body }) => body.toString());

/** Nothing is left of any request: no load, no memory, no connection that still carries one. */
export async function assertAtRest({ router }: PairPool): Promise<void> {
  await waitUntil(() => outstanding(router.router).inFlight === 0 && router.router.gate.memory.bodyBytes === 0);
  assert.deepEqual(outstanding(router.router), { inFlight: 0, prefillTokens: 0 });
}
