import assert from "node:assert/strict";
import { after } from "node:test";
import { postBytes } from "./raw-client.ts";
import { outstanding, startTestRouter, type TestRouter, type TestRouterOptions, waitUntil } from "./router.ts";
import { jsonAnswer, type Script, type ScriptedReplica, startScriptedReplica } from "./scripted-replica.ts";

export const CHAT = "/v1/chat/completions";

/** A chat request for the model every scripted replica lists; `lines` are further header lines. */
export const chatPost = (extra = "", lines = "") => postBytes(CHAT, chatBody(extra), lines);
export const chatBody = (extra = "") => `{"model":"m","messages":[{"role":"user","content":"hello"}]${extra}}`;
export const STREAM = ',"stream":true';

export const OK = jsonAnswer(
  '{"object":"chat.completion","choices":[{"message":{"role":"assistant","content":"Hi"}}],"model":"m"}',
);
export const answerOk: Script = (_request, socket) => void socket.write(OK);

/** One event of a stream, told from the others by its number. */
export const event = (n: number) => `data: {"choices":[{"finish_reason":"stop"}],"n":${n}}\n\n`;

/** Starts replicas with the given scripts and a router over them; both end after the test file. */
export async function setUp(
  scripts: readonly Script[],
  { models, ...options }: TestRouterOptions & { readonly models?: readonly string[] } = {},
): Promise<{ router: TestRouter; replicas: ScriptedReplica[]; replica: ScriptedReplica }> {
  const replicas = await Promise.all(scripts.map((script) => startScriptedReplica(script, models)));
  const router = await startTestRouter(
    replicas.map(({ url }) => url),
    options,
  );
  after(async () => {
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  return { router, replicas, replica: replicas[0]! };
}

/** Waits until no request is under way and says that nothing is left of any. */
export async function assertIdle({ router }: TestRouter): Promise<void> {
  await waitUntil(() => outstanding(router).inFlight === 0);
  assert.deepEqual(outstanding(router), { inFlight: 0, prefillTokens: 0 });
}
