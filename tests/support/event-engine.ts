import { batch, CLEARED, removedMap, storedMap } from "./event-batches.ts";
import { EventPublisher, type EventPublisherOptions } from "./event-publisher.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "./scripted-replica.ts";

const BLOCK_TOKENS = 16;
const CHARS_PER_TOKEN = 4;

/** A replica with a cache of blocks that it publishes: a token is four characters of the prompt, or what a request of token ids says. */
export class EventEngine {
  readonly publisher: EventPublisher;
  replica!: ScriptedReplica;
  /** What `usage` reports instead of what the cache holds. */
  lie: number | undefined;
  /** Nothing is published any more. */
  isMute = false;
  /** Whether it answers GET /kv_event_sources and renders prompts. */
  isOld = false;
  /** Called before a request is answered: what happens between the decision and its begin. */
  begins: () => void = () => {};
  #hashes = new Map<string, bigint>();
  #nextHash = 2n ** 60n;
  #time = 1;

  private constructor(publisher: EventPublisher) {
    this.publisher = publisher;
  }

  static async start(options: EventPublisherOptions = {}): Promise<EventEngine> {
    const engine = new EventEngine(await EventPublisher.start(options));
    engine.replica = await startScriptedReplica(({ startLine, body }, socket) => {
      const [, path = ""] = startLine.split(" ");
      socket.write(jsonAnswer(engine.#answer(path, body)));
    });
    return engine;
  }

  get url(): string {
    return this.replica.url;
  }

  /** Whether the prompt's first block is cached. */
  holds(prompt: string): boolean {
    return this.#cached(tokensOf({ prompt })) > 0;
  }

  /** As if another router had sent the prompt. */
  store(prompt: string): void {
    this.#store(tokensOf({ prompt }));
  }

  /** Evicts all but the first `blocks` of the prompt. */
  evict(prompt: string, blocks = 0): void {
    const keys = keysOf(tokensOf({ prompt })).slice(blocks);
    const hashes = keys.flatMap((key) => this.#hashes.get(key) ?? []);
    for (const key of keys) this.#hashes.delete(key);
    this.#publish(removedMap(hashes));
  }

  clear(): void {
    this.#hashes.clear();
    this.#publish(CLEARED);
  }

  restart(): void {
    this.#hashes.clear();
    this.publisher.restart();
  }

  async close(): Promise<void> {
    await this.replica.close();
    await this.publisher.close();
  }

  #answer(path: string, body: Buffer): string {
    if (path === "/kv_event_sources") return this.isOld ? '{"error":"none"}' : this.publisher.sources;
    const tokens = tokensOf(JSON.parse(body.toString()) as Asked);
    if (path.endsWith("/render")) return JSON.stringify([{ token_ids: tokens, features: null }]);
    this.begins();
    const cached = Math.min(this.#cached(tokens), Math.floor((tokens.length - 1) / BLOCK_TOKENS) * BLOCK_TOKENS);
    this.#store(tokens);
    const details = { cached_tokens: this.lie ?? cached };
    const usage = { prompt_tokens: tokens.length, completion_tokens: 1, prompt_tokens_details: details };
    return JSON.stringify({ choices: [{ text: "x" }], usage });
  }

  #cached(tokens: readonly number[]): number {
    const missing = keysOf(tokens).findIndex((key) => !this.#hashes.has(key));
    return BLOCK_TOKENS * (missing < 0 ? Math.floor(tokens.length / BLOCK_TOKENS) : missing);
  }

  #store(tokens: readonly number[]): void {
    const keys = keysOf(tokens);
    const from = this.#cached(tokens) / BLOCK_TOKENS;
    if (from === keys.length) return;
    const hashes = keys.slice(from).map((key) => {
      this.#hashes.set(key, this.#nextHash);
      return this.#nextHash++;
    });
    const parent = from === 0 ? null : this.#hashes.get(keys[from - 1]!)!;
    this.#publish(storedMap({ hashes, parent, tokens: tokens.slice(from * BLOCK_TOKENS, keys.length * BLOCK_TOKENS) }));
  }

  #publish(event: ReturnType<typeof removedMap>): void {
    if (!this.isMute) this.publisher.publish(batch([event], this.#time++));
  }
}

interface Asked {
  readonly prompt?: string;
  readonly token_ids?: readonly number[];
}

function tokensOf({ prompt = "", token_ids }: Asked): readonly number[] {
  if (token_ids !== undefined) return token_ids;
  const tokens: number[] = [];
  for (let at = 0; at < prompt.length; at += CHARS_PER_TOKEN)
    tokens.push(Buffer.from(prompt.slice(at, at + 4).padEnd(4)).readInt32LE());
  return tokens.map((token) => Math.abs(token));
}

/** What names each whole block: all tokens up to its end. */
function keysOf(tokens: readonly number[]): readonly string[] {
  const blocks = Math.floor(tokens.length / BLOCK_TOKENS);
  return Array.from({ length: blocks }, (_, block) => tokens.slice(0, (block + 1) * BLOCK_TOKENS).join());
}
