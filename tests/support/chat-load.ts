import { connect, type Socket } from "node:net";
import { isWholeAnswer, postBytes } from "./raw-client.ts";
import { CHAT } from "./scripted-pool.ts";

/** What clients met. */
interface ChatLoad {
  /** Requests without a whole stream in response. */
  readonly failed: number;
  /** Mean time to the first event of those that came whole, without the latest ones. */
  readonly ttftMs: number;
}

/**
 * Streamed chats of twenty conversations, one after another by each of `atOnce` clients, until there were `requests`. Together `mostBad` of
 * them may fail or come late: so many that came latest, less those that failed, are no part of the mean.
 */
export async function loadWithChats(port: number, requests: number, atOnce: number, mostBad: number): Promise<ChatLoad> {
  let next = 0;
  let failed = 0;
  const ttfts: number[] = [];
  const beOneClient = async () => {
    const client = new ChatClient(port);
    while (next < requests) {
      next += 1;
      const ttftMs = await client.chat(chatBytes(next));
      if (Number.isNaN(ttftMs)) failed += 1;
      else ttfts.push(ttftMs);
    }
    client.close();
  };
  await Promise.all(Array.from({ length: atOnce }, beOneClient));
  const counted = ttfts.sort((one, other) => one - other).slice(0, requests - Math.max(failed, mostBad));
  return { failed, ttftMs: counted.reduce((sum, ms) => sum + ms, 0) / counted.length };
}

function chatBytes(index: number): string {
  const content = `conversation ${index % 20}, `.repeat(30) + index;
  return postBytes(CHAT, `{"model":"m","stream":true,"max_tokens":4,"messages":[{"role":"user","content":"${content}"}]}`);
}

/** Asks for one chat after another on one connection, and on a new one where the router has closed it. */
class ChatClient {
  readonly #port: number;
  #socket: Socket | undefined;
  #received = "";
  #changed: () => void = () => {};

  constructor(port: number) {
    this.#port = port;
  }

  /** Time to the first event in milliseconds; NaN if the response is not a whole stream. */
  async chat(bytes: string): Promise<number> {
    this.#received = "";
    this.#socket ??= this.#open();
    const socket = this.#socket;
    const sentAtMs = performance.now();
    let ttftMs = Number.NaN;
    socket.write(bytes);
    await new Promise<void>((resolve) => {
      this.#changed = () => {
        if (Number.isNaN(ttftMs) && this.#received.includes("data: ")) ttftMs = performance.now() - sentAtMs;
        if (this.#socket !== socket || isWholeAnswer(this.#received)) resolve();
      };
    });
    const isWhole = this.#received.startsWith("HTTP/1.1 200 ") && this.#received.includes("data: [DONE]");
    return isWhole ? ttftMs : Number.NaN;
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    socket.on("data", (chunk: Buffer) => {
      this.#received += chunk.toString("latin1");
      this.#changed();
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      this.#socket = undefined;
      this.#changed();
    });
    return socket;
  }
}
