import type { Span } from "../../../core/contract/span.ts";
import { promptBytes } from "../../../core/state/hashed-prompt.ts";

const SPACE = 0x20;
const COMMA = 0x2c;
/** An odd number with well mixed bits. */
const MULTIPLIER = 0x9e3779b1;
/** Clients mark with it up to where caches may hold the prompt, and move it on in each turn. */
const MARKER = new TextEncoder().encode('"cache_control"');

/** The bytes of a prompt as they are hashed: its spans, with a zero byte between two of them. */
export class PromptBytes {
  readonly #body: Uint8Array;
  readonly #spans: readonly Span[];

  constructor(body: Uint8Array, spans: readonly Span[]) {
    this.#body = body;
    this.#spans = spans;
  }

  /** Up to where the next turn repeats the prompt: without its last bracket or quote, and without what moves on with each turn. */
  openLength(api: string): number {
    const body = this.#body;
    const [start, end] = this.#spans.at(-1)!;
    let open = end - 1;
    if (api === "messages") {
      const marker = Buffer.from(body.buffer, body.byteOffset + start, end - start).indexOf(MARKER);
      if (marker >= 0) open = start + marker;
    }
    while (open > start && (body[open - 1]! <= SPACE || body[open - 1] === COMMA)) open -= 1;
    return promptBytes(this.#spans) - (end - open);
  }

  /** Goes on with `digest` from one place in the prompt to another. */
  digest(from: number, to: number, digest: number): number {
    let value = digest;
    let spanAt = 0;
    for (const [start, end] of this.#spans) {
      const first = start + Math.max(0, from - spanAt);
      const last = Math.min(end, start + to - spanAt);
      for (let at = first; at < last; at++) value = mixed(value, this.#body[at]!);
      spanAt += end - start + 1;
      if (spanAt - 1 >= from && spanAt - 1 < to) value = mixed(value, 0);
      if (spanAt >= to) break;
    }
    return value;
  }
}

function mixed(value: number, byte: number): number {
  const next = Math.imul(value ^ byte, MULTIPLIER);
  return next ^ (next >>> 15);
}
