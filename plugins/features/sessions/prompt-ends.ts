import type { Span } from "../../../core/contract/span.ts";
import { promptBytes } from "../../../core/state/hashed-prompt.ts";
import { blockEnds, wholeBlocks } from "../../../core/state/prefix-blocks.ts";
import { PrefixHasher, SECRET_WORDS } from "../../../core/state/prefix-hash.ts";
import { PromptBytes } from "./prompt-bytes.ts";
import type { PromptEnd, Session } from "./session.ts";

/** About 1,000 tokens. To compute a shorter prompt again costs little, so nobody asks whose turn it is. */
const LEAST_BYTES = 4_096;
/** A longer prompt is no longer known by itself. */
const MOST_BYTES = 16 * 1024 * 1024;
const BLOCK_BYTES = 1_024;

/** A prompt that may continue another one. */
export interface AskedPrompt {
  readonly bytes: PromptBytes;
  /** Without what closes it: the next turn goes on there. */
  readonly length: number;
  /** Two words for each whole block. */
  readonly hashes: readonly number[];
}

/**
 * Finds the session whose last prompt another prompt begins with. The whole prompt counts, to the last byte: the first prompts of many
 * sessions have the same long instructions, and differ in a few words at their end.
 */
export class PromptEnds {
  readonly #ends = blockEnds(BLOCK_BYTES, MOST_BYTES);
  readonly #hasher: PrefixHasher;
  readonly #seed: number;
  /** By a word of the last whole block's hash: the ends in that block, the nearest first. */
  readonly #byBlock = new Map<number, PromptEnd[]>();

  constructor(secret: ArrayLike<number> = crypto.getRandomValues(new Uint32Array(SECRET_WORDS))) {
    this.#hasher = new PrefixHasher(secret);
    this.#seed = secret[0]! | 1;
  }

  /** Undefined for a prompt that is too short, or too long. Tenants and models share no sessions. */
  read(body: Uint8Array, spans: readonly Span[], api: string, model: string, tenant: string): AskedPrompt | undefined {
    const whole = promptBytes(spans);
    if (whole < LEAST_BYTES || whole > MOST_BYTES) return undefined;
    const bytes = new PromptBytes(body, spans);
    const length = bytes.openLength(api);
    const blocks = wholeBlocks(this.#ends, length);
    if (blocks === 0) return undefined;
    const hashes = this.#hasher.hash({ api, target: model, cacheSalt: tenant }, body, spans, this.#ends, blocks);
    return { bytes, length, hashes };
  }

  /** The session of which this is the next turn. One with a turn under way has no next one yet: then it is a branch. */
  continued({ bytes, length, hashes }: AskedPrompt): Session | undefined {
    for (let block = hashes.length / 2 - 1; block >= 0; block--) {
      const [low, high] = [hashes[2 * block]!, hashes[2 * block + 1]!];
      const ends = this.#byBlock.get(low);
      if (ends === undefined) continue;
      const found = this.#longest(ends, high, bytes, this.#ends[block]!, length);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The session's last prompt is this one now. */
  moved(session: Session, { bytes, length, hashes }: AskedPrompt): void {
    const last = hashes.length - 2;
    const [low, high] = [hashes[last]!, hashes[last + 1]!];
    const from = this.#ends[last / 2]!;
    const tailBytes = length - from;
    this.put({ session, low, high, tailBytes, digest: bytes.digest(from, length, this.#seed) });
  }

  /** The session's last prompt ended there, as a router with the same secret says. */
  put(end: PromptEnd): void {
    const { session, low, tailBytes } = end;
    this.forget(session);
    session.promptEnd = end;
    const ends = this.#byBlock.get(low);
    if (ends === undefined) this.#byBlock.set(low, [end]);
    else ends.splice(placeOf(ends, tailBytes), 0, end);
  }

  forget(session: Session): void {
    const end = session.promptEnd;
    if (end === undefined) return;
    session.promptEnd = undefined;
    const ends = this.#byBlock.get(end.low);
    if (ends === undefined) return;
    const at = ends.indexOf(end, Math.max(0, placeOf(ends, end.tailBytes - 1)));
    if (at >= 0) ends.splice(at, 1);
    if (ends.length === 0) this.#byBlock.delete(end.low);
  }

  #longest(ends: readonly PromptEnd[], high: number, bytes: PromptBytes, from: number, length: number): Session | undefined {
    let digest = this.#seed;
    let at = from;
    let found: Session | undefined;
    for (let index = 0; index < ends.length; index++) {
      const end = ends[index]!;
      if (from + end.tailBytes > length) break;
      if (at < from + end.tailBytes) digest = bytes.digest(at, from + end.tailBytes, digest);
      at = from + end.tailBytes;
      if (end.digest === digest && end.high === high && !end.session.isBusy) found = end.session;
    }
    return found;
  }
}

/** Behind those whose tails are no longer. */
function placeOf(ends: readonly PromptEnd[], tailBytes: number): number {
  let from = 0;
  let to = ends.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (ends[middle]!.tailBytes <= tailBytes) from = middle + 1;
    else to = middle;
  }
  return from;
}
