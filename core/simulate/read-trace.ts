import { accessLogFormat } from "./access-log.ts";
import { mooncakeFormat } from "./mooncake.ts";
import { type Trace, TraceError, type TraceFormat, type TraceRequest } from "./trace.ts";

/** Longer than any line that the formats can need; a file without line ends must not fill memory. */
const MAX_LINE_CHARS = 32 * 1024 * 1024;
const MAX_REQUESTS = 5_000_000;

/** Reads a trace from pieces of its text, one JSON object a line; which format it is, the first line tells. */
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

  /** Throws TraceError at the first line that can't be read. */
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
    if (first === undefined) throw new TraceError(`${this.#name} has no request to replay`);
    return {
      name: this.#name,
      requests: requests.map((request) => ({ ...request, atMs: request.atMs - first.atMs })),
      hasPrefixes: this.#format?.hasPrefixes() ?? false,
      skippedLines: this.#skippedLines,
    };
  }

  #take(text: string): void {
    this.#line += 1;
    if (text.trim() === "") return;
    if (this.#requests.length === MAX_REQUESTS) throw this.#problem(`a trace may have ${MAX_REQUESTS} requests; cut it into parts`);
    const line = this.#parse(text);
    this.#format ??= formatOf(line);
    if (this.#format === undefined) throw this.#problem(`wanted "timestamp" (Mooncake) or "time" (a router's access log)`);
    try {
      const request = this.#format.request(line);
      if (request === undefined) this.#skippedLines += 1;
      else this.#requests.push(request);
    } catch (thrown) {
      throw thrown instanceof TraceError ? this.#problem(thrown.message) : thrown;
    }
  }

  #parse(text: string): Readonly<Record<string, unknown>> {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    } catch {
      // Said below.
    }
    throw this.#problem("wanted a JSON object");
  }

  #problem(message: string): TraceError {
    return new TraceError(`${this.#name}:${this.#line}: ${message}.`);
  }
}

function formatOf(line: Readonly<Record<string, unknown>>): TraceFormat | undefined {
  if ("timestamp" in line) return mooncakeFormat();
  if ("time" in line) return accessLogFormat();
  return undefined;
}
