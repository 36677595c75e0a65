import type { Buffer } from "node:buffer";
import { ChunkedDecoder } from "../../core/wire/chunked.ts";
import { isKeptAlive, requestFraming, responseFraming } from "../../core/wire/framing.ts";
import type { Head } from "../../core/wire/head.ts";
import type { HeadKind } from "../../core/wire/head-parser.ts";
import { HeadParser } from "../../core/wire/head-parser.ts";
import { WireError } from "../../core/wire/wire-error.ts";

interface Message {
  readonly start: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export const LIMITS = { headBytes: 32 * 1024, headerCount: 128 };

/** The whole messages that head parser, framing and chunked decoder together find in a connection's bytes, up to what they refuse. */
export function messagesIn(kind: HeadKind, bytes: Buffer, hasNoBodies = false): readonly Message[] {
  const messages: Message[] = [];
  const parser = new HeadParser(kind, LIMITS);
  try {
    for (let at = 0, isKept = true; isKept; parser.reset()) {
      at = parser.push(bytes, at);
      if (at < 0) break;
      const { head } = parser;
      isKept = isKeptAlive(head);
      const framing = kind === "request" ? requestFraming(head) : responseFraming(head, "POST");
      const [body, end] = hasNoBodies ? ["", at] : bodyFrom(bytes, at, framing);
      if (end < 0) break;
      messages.push({ start: startLine(kind, head), headers: headersOf(head), body });
      at = end;
    }
  } catch (thrown) {
    if (!(thrown instanceof WireError)) throw thrown;
  }
  return messages;
}

/** A body and where it ends; -1 where that is not known. */
function bodyFrom(bytes: Buffer, start: number, { kind, length }: ReturnType<typeof responseFraming>): [string, number] {
  if (kind === "close") return ["", -1];
  if (kind !== "chunked") {
    const end = start + (kind === "length" ? length : 0);
    return [bytes.toString("latin1", start, end), end <= bytes.length ? end : -1];
  }
  const decoder = new ChunkedDecoder("response");
  decoder.push(bytes, start);
  const spans = Array.from({ length: decoder.spanCount }, (_, i) => [decoder.spans[2 * i], decoder.spans[2 * i + 1]] as const);
  return [spans.map(([from, to]) => bytes.toString("latin1", from, to)).join(""), decoder.isDone ? decoder.end : -1];
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
