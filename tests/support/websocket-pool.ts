import { after } from "node:test";
import { startTestRouter, type TestRouter, type TestRouterOptions, waitUntil } from "./router.ts";
import { type Script, type ScriptedReplica, startScriptedReplica } from "./scripted-replica.ts";
import { type WebSocketEnd, webSocketScript } from "./websocket.ts";

export const REALTIME = "/v1/realtime";
export const RESPONSES = "/v1/responses";

/** A replica that accepts WebSockets. */
export interface WebSocketReplica extends ScriptedReplica {
  /** In the order in which they were opened. */
  readonly sessions: readonly WebSocketEnd[];
  /** Resolves with the session of that number, counted from 1, once there is one. */
  session(number: number): Promise<WebSocketEnd>;
}

/** `script`: what it does in place of accepting. */
export async function startWebSocketReplica(models: readonly string[], script?: Script, lines = ""): Promise<WebSocketReplica> {
  const sessions: WebSocketEnd[] = [];
  const replica = await startScriptedReplica(script ?? webSocketScript((end) => sessions.push(end), lines), models);
  const session = async (number: number) => {
    await waitUntil(() => sessions.length >= number);
    return sessions[number - 1]!;
  };
  // Getters stay getters.
  return Object.assign(Object.create(replica) as ScriptedReplica, { sessions, session });
}

/** A router over such replicas; all of them end after the test file. */
export async function startWebSocketRouter(
  replicas: readonly ScriptedReplica[],
  options: TestRouterOptions = {},
): Promise<TestRouter> {
  const router = await startTestRouter(
    replicas.map(({ url }) => url),
    { spec: "  websockets: {}", ...options },
  );
  after(async () => {
    await router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  return router;
}

/** The line of the access log of that number, counted from 1. */
export async function logLine(router: TestRouter, number: number) {
  await waitUntil(() => router.log.length >= number);
  return router.log[number - 1]!;
}

/** A first message as engines of the Realtime API read it. */
export const update = (model: string) => JSON.stringify({ type: "session.update", model });
