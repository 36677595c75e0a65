import type { Clock, Endpoint, PrefixMatch } from "signalbox/plugin";

export interface OwnIndexSettings {
  /** Most tokens remembered for each endpoint. */
  readonly maxTokens: number;
  /** A block that no prompt has used for so long is forgotten. */
  readonly maxIdleMs?: number;
  readonly clock: Pick<Clock, "now">;
}

interface Block {
  readonly tokens: number;
  readonly usedAtMs: number;
  /** Number of the prompt that used it last. */
  readonly prompt: number;
}

interface Match {
  /** Tokens of the leading blocks that the endpoint was sent before. */
  readonly tokens: number;
  /** Number of the prompt that used the last of these blocks last; 0 if there is none. */
  readonly prompt: number;
}

/**
 * The prompts that were sent to each endpoint, as routers remember them that do not know how large an engine's cache is: up to a
 * limit of their own, least recently used blocks forgotten first, a prompt's end before its beginning. The blocks are those of the
 * router's prefix index, read from `prefix.hashes`.
 */
export class OwnIndex {
  readonly #settings: OwnIndexSettings;
  /** By slot: the endpoint's name, because another endpoint may get the slot, and its blocks, oldest first. */
  readonly #sent: { readonly name: string; readonly blocks: Map<number, Block>; tokens: number }[] = [];
  #prompts = 0;

  constructor(settings: OwnIndexSettings) {
    this.#settings = settings;
  }

  match(prefix: PrefixMatch, { slot, name }: Endpoint): Match {
    const sent = this.#sent[slot];
    const { maxIdleMs = Number.POSITIVE_INFINITY, clock } = this.#settings;
    const oldestMs = clock.now() - maxIdleMs;
    let tokens = 0;
    let prompt = 0;
    if (sent?.name !== name) return { tokens, prompt };
    for (let index = 0; index < hashedBlocks(prefix); index++) {
      const block = sent.blocks.get(keyOf(prefix, index));
      if (block === undefined || block.usedAtMs < oldestMs) break;
      tokens += block.tokens;
      prompt = block.prompt;
    }
    return { tokens, prompt };
  }

  /** The prompt is sent to the endpoint. */
  add(prefix: PrefixMatch, { slot, name }: Endpoint): void {
    const usedAtMs = this.#settings.clock.now();
    if (this.#sent[slot]?.name !== name) this.#sent[slot] = { name, blocks: new Map(), tokens: 0 };
    const sent = this.#sent[slot]!;
    this.#prompts += 1;
    for (let index = hashedBlocks(prefix) - 1; index >= 0; index--) {
      const key = keyOf(prefix, index);
      const tokens = prefix.tokensIn?.(index) ?? 0;
      // Deleted first, because a map keeps the place of a key that it has.
      sent.tokens += tokens - (sent.blocks.get(key)?.tokens ?? 0);
      sent.blocks.delete(key);
      sent.blocks.set(key, { tokens, usedAtMs, prompt: this.#prompts });
    }
    for (const [key, { tokens }] of sent.blocks) {
      if (sent.tokens <= this.#settings.maxTokens) break;
      sent.blocks.delete(key);
      sent.tokens -= tokens;
    }
  }
}

/** Without hashes it remembers nothing. */
const hashedBlocks = ({ hashes, blocks }: PrefixMatch) => (hashes === undefined ? 0 : blocks);

/** 53 bits of the block's hash, so that it fits into a number. */
function keyOf({ hashes }: PrefixMatch, block: number): number {
  const [low, high] = [hashes?.[2 * block] ?? 0, hashes?.[2 * block + 1] ?? 0];
  return (low >>> 0) * 2 ** 21 + (high >>> 11);
}
