import { Agent, type IncomingMessage, request as sendRequest } from "node:http";
import { connect } from "node:net";

/** How one request of a client ended. */
export type Result =
  | "served" // whole, and its own
  | "refused" // an error response of the router
  | "broken" // a stream that ended with an error event or a cut connection
  | "left" // the client left on purpose
  | "wrong" // complete, but damaged or incomplete
  | "mixed up" // another request's content
  | "hung"; // no end in time

export type Kind = "unary" | "stream" | "slow" | "abort" | "half-close";

export const KINDS: readonly Kind[] = ["unary", "stream", "unary", "stream", "slow", "abort", "half-close"];

/** Longer than anything that a promise of the router allows for the load here. */
const HUNG_MS = 90_000;
const SLOW_READ_MS = 20;
const TAG = /tag-\d+-[a-z]+/g;

const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });

/** Sends one request that carries `tag`, and judges the response: replicas repeat what they were sent. */
export function send(port: number, kind: Kind, id: string, tag: string): Promise<Result> {
  const body = JSON.stringify({
    model: "m",
    stream: kind !== "unary" && kind !== "half-close",
    max_tokens: 400,
    messages: [{ role: "user", content: `${tag} ${"word ".repeat(tag.length * 7)}` }],
  });
  return kind === "half-close" ? halfClose(port, id, body) : overHttp(port, kind, id, tag, body);
}

function overHttp(port: number, kind: Kind, id: string, tag: string, body: string): Promise<Result> {
  return new Promise((resolve) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body), "x-request-id": id };
    const path = "/v1/chat/completions";
    const request = sendRequest({ agent, port, host: "127.0.0.1", method: "POST", path, headers }, (response) => {
      void read(response, kind).then((text) => settle(text === undefined ? "left" : judge(response, kind, tag, text)), onError);
    });
    const onError = () => settle(kind === "abort" ? "left" : "broken");
    const timer = setTimeout(() => {
      settle("hung");
      request.destroy();
    }, HUNG_MS);
    const settle = (result: Result) => {
      clearTimeout(timer);
      resolve(result);
    };
    request.on("error", onError);
    request.end(body);
  });
}

/** The whole text; undefined for a client that leaves after the first bytes. */
async function read(response: IncomingMessage, kind: Kind): Promise<string | undefined> {
  let text = "";
  for await (const chunk of response) {
    text += (chunk as Buffer).toString();
    if (kind === "abort") {
      response.destroy();
      return undefined;
    }
    if (kind === "slow") await new Promise((resolve) => setTimeout(resolve, SLOW_READ_MS));
  }
  return text;
}

function judge(response: IncomingMessage, kind: Kind, tag: string, text: string): Result {
  if (response.statusCode !== 200) return hasErrorShape(text) ? "refused" : "wrong";
  const content = kind === "unary" ? unaryContent(text) : streamContent(text);
  if (content === "error") return "broken";
  if (content === undefined) return "wrong";
  const tags = content.match(TAG) ?? [];
  if (tags.some((found) => found !== tag)) return "mixed up";
  return tags.length > 0 ? "served" : "wrong";
}

function hasErrorShape(text: string): boolean {
  try {
    return "error" in (JSON.parse(text) as object);
  } catch {
    return false;
  }
}

function unaryContent(text: string): string | undefined {
  try {
    return JSON.stringify((JSON.parse(text) as { choices: unknown[] }).choices);
  } catch {
    return undefined;
  }
}

/** The generated text; "error" where the stream ends with an error event; undefined where it is not a whole stream. */
function streamContent(text: string): string | undefined {
  const events = text.split("\n\n").filter((event) => event.startsWith("data: "));
  const last = events.at(-1)?.slice(6);
  if (last === undefined) return undefined;
  if (last !== "[DONE]") return last.includes('"error"') ? "error" : undefined;
  let content = "";
  for (const event of events.slice(0, -1)) {
    const { choices } = JSON.parse(event.slice(6)) as { choices: { delta?: { content?: string } }[] };
    content += choices[0]?.delta?.content ?? "";
  }
  return content;
}

/** A client that closes its sending side counts as gone: the router closes the connection soon. */
function halfClose(port: number, id: string, body: string): Promise<Result> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    const timer = setTimeout(() => {
      resolve("hung");
      socket.destroy();
    }, HUNG_MS);
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timer);
      resolve("left");
    });
    socket.resume();
    const lines = `Host: soak\r\nContent-Type: application/json\r\nX-Request-Id: ${id}\r\nContent-Length: ${Buffer.byteLength(body)}`;
    socket.end(`POST /v1/chat/completions HTTP/1.1\r\n${lines}\r\n\r\n${body}`);
  });
}

/** Closes the connections that are kept. */
export function closeClients(): void {
  agent.destroy();
}
