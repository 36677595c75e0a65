import { checkHost } from "../../../core/wire/request-target.ts";
import { type NodeVerdict, nodeRequests, nodeResponse } from "../../support/node-http.ts";
import { type Message, transcribe } from "../../support/wire-transcript.ts";

/** What becomes of a message: read to its end, refused, or still waited for. */
type Fate = "read" | "refused" | "waiting";

/** How our codec and `node:http` differ over some bytes. */
export interface Dispute {
  readonly ours: Fate;
  readonly node: Fate;
  /** Both read a message to its end, and read it differently. */
  readonly isTwoFramings: boolean;
  /** The bytes from the first difference on. */
  readonly disputed: string;
}

/** Sent behind every request: it shows where each of the two has the request end. */
const NEXT = "GET /next HTTP/1.1\r\nHost: next\r\n\r\n";

type Seen = Pick<Message, "start" | "headers" | "body">;

/** Compares how both read a request and the one behind it. Undefined if they agree. */
export async function requestDispute(text: string, pieces: (bytes: Buffer) => readonly Buffer[]): Promise<Dispute | undefined> {
  const bytes = Buffer.from(text + NEXT, "latin1");
  const { messages, error } = transcribe("request", pieces(bytes), false, checkHost);
  const ours = messages
    .filter(({ isComplete }) => isComplete)
    .map((message) => ({ ...message, start: message.start.replace(/ 1\.[01]$/, "") }));
  const node = await nodeRequests(pieces(bytes));
  return disputeOf("request", bytes, { messages: ours, isRefused: error !== "" }, node);
}

/** Compares how both read the response to a POST, after which the connection ends. Undefined if they agree. */
export async function responseDispute(text: string, pieces: (bytes: Buffer) => readonly Buffer[]): Promise<Dispute | undefined> {
  const bytes = Buffer.from(text, "latin1");
  const { messages, error } = transcribe("response", pieces(bytes));
  const ours = messages
    .filter((message) => message.isComplete || (error === "" && !isFramed(message)))
    .filter(({ start }) => !/^1\.[01] 1/.test(start))
    .map((message) => ({ ...message, start: message.start.slice(4) }));
  const node = await nodeResponse(pieces(bytes));
  // The connection has ended, so a message that is not complete is refused.
  return disputeOf("response", bytes, { messages: ours.slice(0, 1), isRefused: true }, { ...node, isRefused: true });
}

function isFramed({ headers }: Seen): boolean {
  return headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
}

function disputeOf(
  kind: "request" | "response",
  bytes: Buffer,
  ours: { messages: readonly Seen[]; isRefused: boolean },
  node: NodeVerdict,
): Dispute | undefined {
  const count = kind === "request" ? 2 : 1;
  for (let i = 0; i < count; i++) {
    const fates = { ours: fateOf(ours.messages[i], ours.isRefused), node: fateOf(node.messages[i], node.isRefused) };
    const isSame = JSON.stringify(essence(ours.messages[i])) === JSON.stringify(essence(node.messages[i]));
    if (fates.ours === fates.node && isSame) continue;
    return {
      ...fates,
      isTwoFramings: fates.ours === "read" && fates.node === "read",
      disputed: bytes.toString("latin1", i === 0 ? 0 : endOfFirst(bytes)),
    };
  }
  return undefined;
}

function essence(message: Seen | undefined) {
  return message && [message.start, message.headers, message.body];
}

function fateOf(message: unknown, isRefused: boolean): Fate {
  if (message !== undefined) return "read";
  return isRefused ? "refused" : "waiting";
}

/** Where our codec has the first request end. */
function endOfFirst(bytes: Buffer): number {
  for (let end = 1; end < bytes.length; end++) {
    if (transcribe("request", [bytes.subarray(0, end)]).messages[0]?.isComplete) return end;
  }
  return bytes.length;
}
