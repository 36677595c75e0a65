import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { postBytes } from "../../support/raw-client.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, STREAM_HEAD, startScriptedReplica } from "../../support/scripted-replica.ts";
import { ClientConnection } from "../client-connection.ts";

/** One chat completion, asked for again and again. */
export interface Traffic {
  /** Of the request. */
  readonly bodyBytes: number;
  /** True if a stream is asked for. */
  readonly isStream: boolean;
}

/** Four replicas and one client on either side of a router. */
export interface LockStep {
  /** Of the replicas. */
  readonly urls: readonly string[];
  /**
   * Sends the request so many times to the router at this port, each after the answer to the one before; streams have so many chunks.
   * Rejects if an answer is not 200.
   */
  ask(port: number, times: number, chunks: number): Promise<void>;
  close(): Promise<void>;
}

const REPLICAS = 4;
const EVENT_START = Buffer.from("data: ");
const COMMON = { id: "chatcmpl-1", created: 1, model: "m" };
const WHOLE = jsonAnswer(
  JSON.stringify({
    ...COMMON,
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", content: "A fair place with good soup." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
  }),
);
const WORD = chunkOf(
  `data: ${JSON.stringify({
    ...COMMON,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta: { content: " word" }, finish_reason: null }],
  })}\n\n`,
);
const END = `${chunkOf("data: [DONE]\n\n")}${LAST_CHUNK}`;

/**
 * Never more than one thing is under way: a replica sends the next chunk of a stream when the client has the one before. So no machine,
 * fast or slow, makes one read of two chunks.
 */
export async function startLockStep({ bodyBytes, isStream }: Traffic): Promise<LockStep> {
  const stream = new SteppedStream();
  const answer = (socket: Socket) => (isStream ? stream.start(socket) : void socket.write(WHOLE));
  const replicas = await Promise.all(
    Array.from({ length: REPLICAS }, () => startScriptedReplica((_, socket) => answer(socket), [COMMON.model])),
  );
  const request = Buffer.from(postBytes("/v1/chat/completions", bodyOf(bodyBytes, isStream)));
  let client: ClientConnection | undefined;
  return {
    urls: replicas.map(({ url }) => url),
    async ask(port, times, chunks) {
      stream.chunks = chunks;
      client ??= new ClientConnection({ port, isTls: false }, (bytes) => stream.arrived(bytes));
      for (let time = 0; time < times; time++) {
        const status = await new Promise((resolve) => client?.send(request, resolve));
        if (status !== 200) throw new Error(`The measured router answered with ${status}.`);
      }
    },
    async close() {
      client?.close();
      await Promise.all(replicas.map((replica) => replica.close()));
    },
  };
}

/** A stream that goes on when its last chunk has arrived. */
class SteppedStream {
  /** Of each stream that begins from now on: two or more. */
  chunks = 0;
  #socket: Socket | undefined;
  #sent = 0;
  #arrived = 0;

  start(socket: Socket): void {
    this.#socket = socket;
    this.#sent = 1;
    this.#arrived = 0;
    socket.write(STREAM_HEAD + WORD);
  }

  /** What the client has read. */
  arrived(bytes: Buffer): void {
    for (let at = bytes.indexOf(EVENT_START); at >= 0; at = bytes.indexOf(EVENT_START, at + 1)) this.#arrived++;
    if (this.#arrived < this.#sent || this.#sent >= this.chunks) return;
    this.#sent++;
    this.#socket?.write(this.#sent === this.chunks ? END : WORD);
  }
}

function bodyOf(bytes: number, isStream: boolean): string {
  const body = (content: string) =>
    JSON.stringify({
      model: COMMON.model,
      stream: isStream,
      messages: [
        { role: "system", content: "You review restaurants." },
        { role: "user", content },
      ],
      max_tokens: 100,
    });
  return body("The soup was cold. ".repeat(bytes).slice(0, Math.max(1, bytes - body("").length)));
}
