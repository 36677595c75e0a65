import { Agent, type IncomingMessage, request as sendRequest } from "node:http";
import { connect } from "node:net";
import { ASKED, MODEL } from "./config.ts";
import { judge, type Received, type Result, type Sent } from "./judge.ts";

export type Kind = "unary" | "stream" | "slow" | "abort" | "half-close";

export const KINDS: readonly Kind[] = ["unary", "stream", "unary", "stream", "slow", "abort", "half-close"];

/** One request of a client. */
export interface Order {
  readonly kind: Kind;
  readonly id: string;
  /** Different for each request. */
  readonly serial: number;
  /** A filter of the soak's own fails at this request. */
  readonly isFiltered: boolean;
}

/** Longer than anything that a promise of the router allows for the load here. */
const HUNG_MS = 90_000;
const SLOW_READ_MS = 20;
/** Prompts have up to so many words, so that bodies of all lengths follow each other on a connection. */
const MOST_WORDS = 80;
const PATH = "/v1/chat/completions";

const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });

/** Sends a request that carries a tag, and judges the response. */
export function send(port: number, { kind, id, serial, isFiltered }: Order): Promise<Result> {
  const tag = `tag-${serial}-${kind.replace("-", "")}`;
  const isStream = kind !== "unary" && kind !== "half-close";
  const body = (model: string) =>
    JSON.stringify({
      model,
      stream: isStream,
      max_tokens: 400,
      messages: [{ role: "user", content: `${"word ".repeat(serial % MOST_WORDS)}${tag}` }],
    });
  const asked = body(serial % 2 === 0 ? MODEL : ASKED);
  if (kind === "half-close") return halfClose(port, id, asked);
  return overHttp(port, kind, id, asked, { tag, isStream, isFiltered, delivered: body(MODEL) });
}

function overHttp(port: number, kind: Kind, id: string, body: string, sent: Sent): Promise<Result> {
  return new Promise((resolve) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body), "x-request-id": id };
    const request = sendRequest({ agent, port, host: "127.0.0.1", method: "POST", path: PATH, headers }, (response) => {
      void read(response, kind).then((received) => settle(received === undefined ? "left" : judge(sent, received)));
    });
    const timer = setTimeout(() => {
      settle("hung");
      request.destroy();
    }, HUNG_MS);
    const settle = (result: Result) => {
      clearTimeout(timer);
      resolve(result);
    };
    request.on("error", () => settle(kind === "abort" ? "left" : "broken"));
    request.end(body);
  });
}

/** What comes; undefined for a client that leaves after the first bytes. */
async function read(response: IncomingMessage, kind: Kind): Promise<Received | undefined> {
  const status = response.statusCode ?? 0;
  let text = "";
  response.setEncoding("utf8");
  try {
    for await (const chunk of response) {
      text += chunk as string;
      if (kind === "abort") {
        response.destroy();
        return undefined;
      }
      if (kind === "slow") await new Promise((resolve) => setTimeout(resolve, SLOW_READ_MS));
    }
  } catch {
    return { status, text, isCut: true };
  }
  return { status, text, isCut: false };
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
    socket.end(`POST ${PATH} HTTP/1.1\r\n${lines}\r\n\r\n${body}`);
  });
}

/** Closes the connections that are kept. */
export function closeClients(): void {
  agent.destroy();
}
