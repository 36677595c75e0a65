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

/** What a replica of the Responses API says over a WebSocket to one message. */
export function responseEvents(id: string, model: string, usage = { input_tokens: 5, output_tokens: 2, total_tokens: 7 }) {
  const response = (status: string) => ({ id, object: "response", status, model });
  return [
    { type: "response.created", response: response("in_progress") },
    { type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0, delta: "Hi" },
    { type: "response.completed", response: { ...response("completed"), output: [{ type: "message" }], usage } },
  ];
}

/** A replica of the Responses API: it answers each message with ids of its own, or as `answer` does. */
export async function startResponsesReplica(
  name: string,
  models: readonly string[],
  answer: (end: WebSocketEnd, message: Record<string, unknown>, id: string) => void = answerWhole,
): Promise<WebSocketReplica> {
  const sessions: WebSocketEnd[] = [];
  let answered = 0;
  const opened = (end: WebSocketEnd) => {
    let read = 0;
    sessions.push(end);
    end.socket.on("data", () => {
      for (const text of end.texts.slice(read)) {
        read += 1;
        answered += 1;
        answer(end, JSON.parse(text) as Record<string, unknown>, `resp_${name}_${answered}`);
      }
    });
  };
  const replica = await startScriptedReplica(webSocketScript(opened), models);
  const session = async (number: number) => {
    await waitUntil(() => sessions.length >= number);
    return sessions[number - 1]!;
  };
  return Object.assign(Object.create(replica) as ScriptedReplica, { sessions, session });
}

export function answerWhole(end: WebSocketEnd, { model }: Record<string, unknown>, id: string): void {
  for (const event of responseEvents(id, String(model))) end.say(JSON.stringify(event));
}

/** A message that asks for a response. */
export const create = (model: string, more: object = {}) =>
  JSON.stringify({ type: "response.create", model, input: "Hello", ...more });

/** What tests read of an event. */
export interface AnswerEvent {
  readonly type: string;
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly error: { readonly code: string };
  readonly response: { readonly id: string };
}

/** Says a message, and resolves with the events that answer it. */
export async function askOn(client: WebSocketEnd, message: string): Promise<readonly AnswerEvent[]> {
  const before = client.texts.length;
  client.say(message);
  return answerFrom(client, before);
}

const ENDS = ["response.completed", "response.done", "response.failed", "error"];

/** The events from that number on, up to the first that ends a response. */
export async function answerFrom(client: WebSocketEnd, before: number): Promise<readonly AnswerEvent[]> {
  const events = () => client.texts.slice(before).map((text) => JSON.parse(text) as AnswerEvent);
  await client.until(() => events().some(({ type }) => ENDS.includes(type)));
  const all = events();
  return all.slice(0, all.findIndex(({ type }) => ENDS.includes(type)) + 1);
}
