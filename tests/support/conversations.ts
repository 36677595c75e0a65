/** The Responses API as its clients and its replicas speak it, for tests of conversations. */
import assert from "node:assert/strict";
import { exchange, isWholeAnswer, postBytes, readAnswer } from "./raw-client.ts";
import type { TestRouter } from "./router.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, type Script, STREAM_HEAD } from "./scripted-replica.ts";
import { makeView } from "./view.ts";

export const RESPONSES = "/v1/responses";
export const LOGGED = "  plugins: [{ type: access-log }]\n";
export const ON = `  conversations: {}\n${LOGGED}`;

export const responseOf = (id: string, output: string, status = "completed") =>
  `{"id":"${id}","object":"response","status":"${status}","model":"m","output":${output},"usage":null}`;
export const said = (text: string) =>
  `{"id": "msg_${text}", "type": "message", "role": "assistant", "status": "completed",\t "content": [{"type":"output_text","text":"${text}","annotations":[]}]}`;
export const user = (text: string) => `{"type":"message","role":"user","content":"${text}"}`;
const named = (type: string, data: string) => `event: ${type}\ndata: ${data}\n\n`;

/** A stream of the API, with tokens between its first event and its last. */
export function streamOf(id: string, output: string, status = "completed"): string {
  const events = [
    named(
      "response.created",
      `{"response":${responseOf(id, "[]", "in_progress")},"sequence_number":0,"type":"response.created"}`,
    ),
    ...["a", "b", "c"].map((delta) =>
      named("response.output_text.delta", `{"delta":"${delta}","type":"response.output_text.delta"}`),
    ),
    named(`response.${status}`, `{"response":${responseOf(id, output, status)},"sequence_number":9,"type":"response.${status}"}`),
  ];
  return STREAM_HEAD + events.map(chunkOf).join("") + LAST_CHUNK;
}

/** Answers each request in turn, as its client asks for it: response n has the id resp_n and says "n". */
export const inTurn =
  (outputOf = (n: number) => `[${said(String(n))}]`): Script =>
  ({ body, index }, socket) => {
    const [id, output] = [`resp_${index + 1}`, outputOf(index + 1)];
    const isStream = (JSON.parse(body.toString()) as { stream?: boolean }).stream === true;
    socket.write(isStream ? streamOf(id, output) : jsonAnswer(responseOf(id, output)));
  };

/** A router of this process, or of another one. */
interface WithPort {
  readonly port: number;
}

interface Failure {
  readonly code: string;
  readonly param: string | null;
  readonly message: string;
}

export async function post({ port }: WithPort, body: string, lines = "") {
  const text = await exchange(port, postBytes(RESPONSES, body, lines));
  if (!text.includes("application/json")) return { status: Number(text.slice(9, 12)), error: undefined, text };
  if (!isWholeAnswer(text)) return { status: 0, error: undefined, text };
  const { status, json } = readAnswer(text);
  return { status, error: json["error"] as Failure | undefined, text };
}

export async function ask(router: WithPort, body: string, lines = ""): Promise<void> {
  const { status, text } = await post(router, body, lines);
  assert.equal(status, 200, text);
}

export async function assertUnknown(router: WithPort, id: string, why: RegExp, lines = ""): Promise<void> {
  const body = `{"model":"m","input":"x","previous_response_id":"${id}"}`;
  const { status, error } = await post(router, body, lines);
  assert.deepEqual([status, error?.code, error?.param], [404, "previous_response_not_found", "previous_response_id"]);
  assert.match(error!.message, why);
  assert.match(error!.message, /send the whole conversation as "input"/);
}

export const NOT_HELD = /No response with this id is held for this client/;

interface Shown {
  readonly turns: number;
  readonly bytes: number;
  readonly replayed: number;
  readonly unknown: number;
}

export const shown = ({ router }: TestRouter) =>
  (router.features.status() as { readonly conversations: Shown | null }).conversations;

export const dropped = ({ router }: TestRouter, reason: string) =>
  router.features
    .metrics(makeView([]))
    .find(({ name }) => name === "conversation_turns_dropped_total")
    ?.samples.find(({ values }) => values[0] === reason)?.value;
