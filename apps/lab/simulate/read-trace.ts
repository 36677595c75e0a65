import { accessLogFormat } from "./access-log.ts";
import {
  BlockIds,
  MAX_OUTPUT_TOKENS,
  MAX_PROMPT_TOKENS,
  numberIn,
  Prompt,
  type Trace,
  TraceError,
  type TraceFormat,
  type TraceLine,
  type TraceRequest,
} from "./trace.ts";

/** Above the longest valid line. A file without line breaks must not fill the memory. */
const MAX_LINE_CHARS = 4 * 1024 * 1024;
const MAX_REQUESTS = 5_000_000;
const WANTED =
  "a trace has lines like Mooncake's, with timestamp and hash_ids, or with session and think_ms in place of the timestamp, or those of the router's access log";

/** Reads a trace from pieces of its text: one JSON object on each line. The first object decides the format. */
export class TraceReader {
  readonly #name: string;
  readonly #requests: TraceRequest[] = [];
  #format: TraceFormat | undefined;
  #rest = "";
  #line = 0;
  #skippedLines = 0;

  constructor(name: string) {
    this.#name = name;
  }

  /** Throws a TraceError at the first invalid line. */
  push(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    for (const line of lines) this.#take(line);
    if (this.#rest.length > MAX_LINE_CHARS) throw this.#problem("the line is too long; a trace has one JSON object on each line");
  }

  end(): Trace {
    this.#take(this.#rest);
    const requests = this.#requests.sort((a, b) => a.atMs - b.atMs);
    const [first] = requests;
    if (first === undefined) throw new TraceError(`${this.#name} has no request to replay: ${WANTED}.`);
    return {
      name: this.#name,
      requests: requests.map((request) => ({ ...request, atMs: request.atMs - first.atMs })),
      hasPrefixes: this.#format?.hasPrefixes() ?? false,
      skippedLines: this.#skippedLines,
    };
  }

  #take(text: string): void {
    this.#line += 1;
    // The output of a router starts with a line for people.
    if (!text.startsWith("{")) {
      if (text.trim() !== "") this.#skippedLines += 1;
      return;
    }
    if (this.#requests.length === MAX_REQUESTS)
      throw this.#problem(`a trace may have ${MAX_REQUESTS} requests; cut it into parts`);
    const line = this.#parse(text);
    this.#format ??= formatOf(line);
    if (this.#format === undefined) throw this.#problem(WANTED);
    try {
      const request = this.#format.request(line);
      if (request === undefined) this.#skippedLines += 1;
      else this.#requests.push({ ...request, line: this.#line });
    } catch (thrown) {
      throw thrown instanceof TraceError ? this.#problem(thrown.message) : thrown;
    }
  }

  #parse(text: string): TraceLine {
    try {
      // JSON that starts with a brace is an object.
      return JSON.parse(text) as TraceLine;
    } catch {
      throw this.#problem("the line is not complete JSON");
    }
  }

  #problem(message: string): TraceError {
    return new TraceError(`${this.#name}:${this.#line}: ${message}.`);
  }
}

function formatOf(line: TraceLine): TraceFormat | undefined {
  if ("timestamp" in line) return mooncakeFormat();
  if ("think_ms" in line) return sessionFormat();
  if ("time" in line) return accessLogFormat();
  return undefined;
}

const BLOCK_TOKENS = 512;
const MAX_TIME_MS = 1e12;
/** The model of every request, since the trace names none. */
const MODEL = "simulated";

/** It is sent in a header. */
const MOST_SESSION_CHARS = 200;
const SESSION_NAME = /^[\w.:/@-]{1,200}$/;

const startOf = (block: number) => block * BLOCK_TOKENS;

/**
 * Mooncake's open traces. A line has timestamp (ms), input_length, output_length and hash_ids, one for each 512-token block;
 * the last block may be partial.
 */
function mooncakeFormat(): TraceFormat {
  const ids = new BlockIds();
  return {
    hasPrefixes: () => true,
    request: (line) => ({ ...lengthsOf(line, ids), atMs: numberIn(line, "timestamp", 0, MAX_TIME_MS) }),
  };
}

/**
 * Sessions whose turns follow one another. A line has session, think_ms (from the end of the turn before), start_ms in a session's first
 * line (default 0), and lengths and hash_ids as Mooncake's. A turn's time is the one at which it would come if no turn took any time.
 */
function sessionFormat(): TraceFormat {
  const ids = new BlockIds();
  const endMs = new Map<string, number>();
  return {
    hasPrefixes: () => true,
    request(line) {
      const session = sessionIn(line);
      const startMs = line["start_ms"] === undefined ? 0 : numberIn(line, "start_ms", 0, MAX_TIME_MS);
      const atMs = (endMs.get(session) ?? startMs) + numberIn(line, "think_ms", 0, MAX_TIME_MS);
      endMs.set(session, atMs);
      return { atMs, ...lengthsOf(line, ids), turn: { session, tookMs: 0 } };
    },
  };
}

function sessionIn({ session }: TraceLine): string {
  if (typeof session === "string" && SESSION_NAME.test(session)) return session;
  throw new TraceError(`"session" must be a text of 1 to ${MOST_SESSION_CHARS} letters, digits and the signs . _ : / @ -`);
}

function lengthsOf(line: TraceLine, ids: BlockIds) {
  const tokens = Math.ceil(numberIn(line, "input_length", 1, MAX_PROMPT_TOKENS));
  return {
    prompt: new Prompt(tokens, blocksOf(line["hash_ids"], Math.ceil(tokens / BLOCK_TOKENS), ids), startOf),
    outputTokens: Math.max(1, Math.ceil(numberIn(line, "output_length", 0, MAX_OUTPUT_TOKENS))),
    model: MODEL,
  };
}

function blocksOf(names: unknown, wanted: number, ids: BlockIds): Int32Array {
  if (!Array.isArray(names) || names.length !== wanted) {
    throw new TraceError(`"hash_ids" must list one id for each ${BLOCK_TOKENS} tokens of input_length: ${wanted}`);
  }
  const blocks = Int32Array.from(names, (name: unknown) => {
    if (typeof name !== "number" && typeof name !== "string") throw new TraceError(`"hash_ids" must be numbers or strings`);
    return ids.of(name);
  });
  if (new Set(blocks).size !== wanted)
    throw new TraceError(`"hash_ids" must differ: each identifies the whole prompt up to its block`);
  return blocks;
}
