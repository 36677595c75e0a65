/** Recorded traffic: who came when, how long prompt and answer were, and which prompts began alike. */
export interface Trace {
  readonly name: string;
  /** By arrival; the first comes at 0. */
  readonly requests: readonly TraceRequest[];
  /** False where the recording does not say which prompts began alike: no simulated cache is ever hit. */
  readonly hasPrefixes: boolean;
  /** Lines that are no request that was served. */
  readonly skippedLines: number;
}

export interface TraceRequest {
  readonly atMs: number;
  readonly prompt: Prompt;
  readonly outputTokens: number;
  readonly model: string;
}

export const MAX_PROMPT_TOKENS = 2 ** 24;
export const MAX_OUTPUT_TOKENS = 2 ** 20;

/** Where the blocks of any prompt of a trace begin, in tokens. */
export type BlockStart = (block: number) => number;

/** A prompt as a chain of blocks: equal ids mean equal prompts up to the end of that block. The last may be cut short. */
export class Prompt {
  readonly tokens: number;
  readonly blocks: Int32Array;
  readonly #startOf: BlockStart;

  constructor(tokens: number, blocks: Int32Array, startOf: BlockStart) {
    this.tokens = tokens;
    this.blocks = blocks;
    this.#startOf = startOf;
  }

  tokensIn(block: number): number {
    const start = this.#startOf(block);
    return Math.min(this.#startOf(block + 1), this.tokens) - start;
  }
}

/** Ids fit in 24 bits, which is what a simulated prompt spells out. */
const MAX_BLOCKS = 2 ** 24;

/** Numbers for the blocks of a trace, from 1 on. */
export class BlockIds {
  readonly #ids = new Map<number | string, number>();
  #count = 0;

  /** The number of a block with this name. */
  of(name: number | string): number {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const id = this.fresh();
    this.#ids.set(name, id);
    return id;
  }

  /** A number for a block that no other prompt has. */
  fresh(): number {
    this.#count += 1;
    if (this.#count >= MAX_BLOCKS)
      throw new RangeError(`The trace has more than ${MAX_BLOCKS} different blocks; cut it into parts.`);
    return this.#count;
  }
}

/** A line that can't be read; the message says what would be right. */
export class TraceError extends Error {}

/** One line of a trace file. */
export type TraceLine = Readonly<Record<string, unknown>>;

/** How one kind of trace is read. */
export interface TraceFormat {
  /** Whether any line so far told which prompts began alike. */
  hasPrefixes(): boolean;
  /** Undefined for a line that is no request to replay. */
  request(line: TraceLine): TraceRequest | undefined;
}

/** A number from a line of a trace, within bounds. */
export function numberIn(line: TraceLine, key: string, min: number, max: number): number {
  const value = line[key];
  if (typeof value === "number" && value >= min && value <= max) return value;
  throw new TraceError(`"${key}" must be a number from ${min} to ${max}`);
}
