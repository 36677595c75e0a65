import type { Buffer } from "node:buffer";
import { ChunkedDecoder } from "../../core/wire/chunked.ts";
import { isKeptAlive, requestFraming, responseFraming } from "../../core/wire/framing.ts";
import type { Head } from "../../core/wire/head.ts";
import type { HeadKind } from "../../core/wire/head-parser.ts";
import { HeadParser } from "../../core/wire/head-parser.ts";
import { WireError } from "../../core/wire/wire-error.ts";

export interface Message {
  readonly start: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  body: string;
  isComplete: boolean;
}

export interface Transcript {
  readonly messages: readonly Message[];
  /** Code of the WireError that ended the reading, "surplus" for bytes after the last message of a connection, or "". */
  readonly error: string;
  /** Where the piece that brought the error began; the length of everything without one. */
  readonly errorAt: number;
}

export const LIMITS = { headBytes: 32 * 1024, headerCount: 128 };

/** What head parser, framing and chunked decoder together make of one connection's bytes. `check` may refuse a head. Anything thrown but WireError passes through. */
export function transcribe(
  kind: HeadKind,
  pieces: readonly Buffer[],
  hasNoBodies = false,
  check: (head: Head) => void = () => {},
): Transcript {
  const messages: Message[] = [];
  const parser = new HeadParser(kind, LIMITS);
  const decoder = new ChunkedDecoder();
  let state: "head" | "length" | "chunked" | "close" | "over" = "head";
  let left = 0;
  let isKept = true;
  let offset = 0;

  const message = () => messages[messages.length - 1]!;
  const complete = () => {
    message().isComplete = true;
    parser.reset();
    state = isKept ? "head" : "over";
  };
  const begin = (head: Head) => {
    messages.push({ start: startLine(kind, head), headers: headersOf(head), body: "", isComplete: false });
    check(head);
    const framing = kind === "request" ? requestFraming(head) : responseFraming(head, "POST");
    isKept = isKeptAlive(head);
    left = framing.length;
    decoder.reset();
    if (framing.kind === "none" || hasNoBodies || (framing.kind === "length" && left === 0)) complete();
    else state = framing.kind as typeof state;
  };
  const read = (piece: Buffer) => {
    let at = 0;
    while (at < piece.length) {
      const start = at;
      switch (state) {
        case "head": {
          const next = parser.push(piece, start);
          at = next < 0 ? piece.length : next;
          if (next >= 0) begin(parser.head);
          break;
        }
        case "length":
          at = Math.min(piece.length, start + left);
          left -= at - start;
          message().body += piece.toString("latin1", start, at);
          if (left === 0) complete();
          break;
        case "chunked":
          decoder.push(piece, start);
          for (let i = 0; i < decoder.spanCount; i++) {
            message().body += piece.toString("latin1", decoder.spans[2 * i], decoder.spans[2 * i + 1]);
          }
          at = decoder.end;
          if (decoder.isDone) complete();
          break;
        case "close":
          message().body += piece.toString("latin1", start);
          at = piece.length;
          break;
        case "over":
          return "surplus";
      }
    }
    return "";
  };

  for (const piece of pieces) {
    let error = "";
    try {
      error = read(piece);
    } catch (thrown) {
      if (!(thrown instanceof WireError)) throw thrown;
      error = thrown.code;
    }
    if (error !== "") return { messages, error, errorAt: offset };
    offset += piece.length;
  }
  return { messages, error: "", errorAt: offset };
}

export function headersOf(head: Head): [string, string][] {
  return Array.from({ length: head.count }, (_, i) => [head.name(i), head.value(i)]);
}

/** The bytes one at a time. */
export function singles(bytes: Buffer): Buffer[] {
  return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
}

/** The bytes cut at each of the offsets. */
export function cut(bytes: Buffer, offsets: readonly number[]): Buffer[] {
  const edges = [0, ...[...offsets].sort((a, b) => a - b), bytes.length];
  return edges.slice(1).map((end, i) => bytes.subarray(edges[i], end));
}

function startLine(kind: HeadKind, head: Head): string {
  return kind === "request" ? `${head.method} ${head.target} 1.${head.minor}` : `1.${head.minor} ${head.status} ${head.reason}`;
}
