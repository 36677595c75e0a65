/** Recorded traffic: arrival times, prompt and output lengths, and which prompts share a prefix. */
export interface Trace {
  readonly name: string;
  /** Sorted by arrival; the first arrives at 0. */
  readonly requests: readonly TraceRequest[];
  /** False if the recording does not show shared prefixes; simulated caches then have no hits. */
  readonly hasPrefixes: boolean;
  /** Lines that hold no served request. */
  readonly skippedLines: number;
}

export interface TraceRequest extends RecordedRequest {
  /** Its line in the trace's file, from 1 on. */
  readonly line: number;
}

/** A request as a line describes it. */
interface RecordedRequest {
  readonly atMs: number;
  readonly prompt: Prompt;
  readonly outputTokens: number;
  readonly model: string;
  /** Further header lines of the request, by lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The prompt's last block is an image. */
  readonly image?: TraceImage;
  /** How it fared when it was recorded; absent where the trace does not say. */
  readonly served?: Served;
  /** Absent where the trace names no session. */
  readonly turn?: RecordedTurn;
}

/** One request of a session: its client sends the next one some time after this one has ended. */
interface RecordedTurn {
  readonly session: string;
  /** From its arrival to its end; 0 in a trace that tells only the times between turns. */
  readonly tookMs: number;
}

/** How a request fared when it was recorded. */
interface Served {
  readonly path: string;
  readonly isStream: boolean;
  /** "" where none is named. */
  readonly endpoint: string;
  /** Undefined where it is not known. */
  readonly firstByteMs: number | undefined;
}

/** An image at the end of a prompt. */
interface TraceImage {
  /** Length of its data in the body. */
  readonly bytes: number;
  /** False: the router takes the data for text, as one that knows no images does. */
  readonly isRecognised: boolean;
}

export const MAX_PROMPT_TOKENS = 2 ** 24;
export const MAX_OUTPUT_TOKENS = 2 ** 20;

/** The token at which a block starts; the same for all prompts of a trace. */
export type BlockStart = (block: number) => number;

/** A prompt as a list of block ids. Equal ids mean equal prompts up to the end of that block. The last block may be partial. */
export class Prompt {
  readonly tokens: number;
  readonly blocks: Int32Array;
  readonly #startOf: BlockStart;

  constructor(tokens: number, blocks: Int32Array, startOf: BlockStart) {
    this.tokens = tokens;
    this.blocks = blocks;
    this.#startOf = startOf;
  }

  /** A prompt of the same lengths that shares other blocks. */
  withBlocks(blocks: Int32Array): Prompt {
    return new Prompt(this.tokens, blocks, this.#startOf);
  }

  tokensIn(block: number): number {
    const start = this.#startOf(block);
    return Math.min(this.#startOf(block + 1), this.tokens) - start;
  }
}

/** Ids have 24 bits, because simulated prompts encode that many. */
export const MAX_BLOCKS = 2 ** 24;

/** Assigns ids to the blocks of a trace, starting at 1. */
export class BlockIds {
  readonly #ids = new Map<number | string, number>();
  #count = 0;

  /** The id of the block with this name. */
  of(name: number | string): number {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const id = this.fresh();
    this.#ids.set(name, id);
    return id;
  }

  /** A new id, for a block that no other prompt shares. Throws a RangeError when there are no more. */
  fresh(): number {
    this.#count += 1;
    if (this.#count >= MAX_BLOCKS)
      throw new RangeError(`The trace has more than ${MAX_BLOCKS} different blocks; cut it into parts.`);
    return this.#count;
  }
}

/** An invalid line; the message says what would be valid. */
export class TraceError extends Error {}

/** One line of a trace file. */
export type TraceLine = Readonly<Record<string, unknown>>;

/** Reads the lines of one kind of trace. */
export interface TraceFormat {
  /** Whether any line so far showed which prompts share a prefix. */
  hasPrefixes(): boolean;
  /** Undefined for a line without a request to replay. Throws a TraceError for an invalid one. */
  request(line: TraceLine): RecordedRequest | undefined;
}

/** The line's number under `key`. Throws a TraceError if there is none from `min` to `max`. */
export function numberIn(line: TraceLine, key: string, min: number, max: number): number {
  const value = line[key];
  if (typeof value === "number" && value >= min && value <= max) return value;
  throw new TraceError(`"${key}" must be a number from ${min} to ${max}`);
}

/** How many replicas a trace names that is a log; 0 for one that names none. */
export function endpointsIn({ requests }: Trace): number {
  const names = new Set(requests.map(({ served }) => served?.endpoint ?? ""));
  names.delete("");
  return names.size;
}
