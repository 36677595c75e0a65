import assert from "node:assert/strict";
import { after } from "node:test";
import { createRouter, type FetchRouter, type RouterOptions } from "../../apps/fetch.ts";
import type { AccessLine, TestRouterOptions } from "./router.ts";
import { jsonAnswer, type Script, type ScriptedReplica, startScriptedReplica } from "./scripted-replica.ts";

export const CHAT = "/v1/chat/completions";

/** A chat request for the model every scripted replica lists. */
export const chatBody = (extra = "") => `{"model":"m","messages":[{"role":"user","content":"hello"}]${extra}}`;

const OK = jsonAnswer('{"object":"chat.completion","choices":[{"index":0}],"model":"m"}');
export const answerOk: Script = (_request, socket) => void socket.write(OK);

export interface TestFetchRouter extends FetchRouter {
  /** Lines the access log wrote. */
  readonly log: readonly AccessLine[];
}

/** The fetch face over the given replicas, once each of them (or `ready` of them) is ready. */
export async function startFetchRouter(
  urls: readonly string[],
  options: TestRouterOptions & Partial<RouterOptions> = {},
): Promise<TestFetchRouter> {
  const { spec = "", documents = "", ready = urls.length, ...given } = options;
  const log: AccessLine[] = [];
  const router = await createRouter({
    text: `apiVersion: signalbox/v1\nkind: Router\nspec:\n  admin: false\n${spec}\n${documents}`,
    urls,
    print: (line) => log.push(JSON.parse(line) as AccessLine),
    ...given,
  });
  for (let tries = 0; tries < 1000 && (await readyCount(router)) < ready; tries++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  return { ...router, log };
}

async function readyCount(router: FetchRouter): Promise<number> {
  const answer = await router.fetch(new Request("http://router/ready"));
  return ((await answer.json()) as { ready: number }).ready;
}

/** A POST with a JSON body, as an application hands it over. */
export function postRequest(path: string, body: BodyInit, init: RequestInit = {}): Request {
  const headers = { "content-type": "application/json", ...(init.headers as Record<string, string> | undefined) };
  // Node wants to be told that it need not read an answer while it still sends a stream; lib.dom does not know the key.
  return new Request(`http://router${path}`, { method: "POST", body, ...init, headers, duplex: "half" } as RequestInit);
}

/** The fetch face over one scripted replica; both end with the test. */
export async function setUpFetch(
  script: Script,
  options: TestRouterOptions & Partial<RouterOptions> = {},
): Promise<{ router: TestFetchRouter; replica: ScriptedReplica }> {
  const replica = await startScriptedReplica(script);
  const router = await startFetchRouter([replica.url], options);
  after(async () => {
    router.close();
    await replica.close();
  });
  return { router, replica };
}

/** What an error answer of the OpenAI dialect says. */
export async function errorOf(response: Response): Promise<{ status: number; code: string; message: string }> {
  assert.equal(response.headers.get("content-type"), "application/json");
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, code: error.code, message: error.message };
}
