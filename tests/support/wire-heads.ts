import { Buffer } from "node:buffer";
import type { Head } from "../../core/wire/head.ts";
import type { HeadKind } from "../../core/wire/head-parser.ts";
import { HeadParser } from "../../core/wire/head-parser.ts";
import { WireError } from "../../core/wire/wire-error.ts";
import { LIMITS } from "./wire-transcript.ts";

/** A request head with these header lines; the start line may be given. */
export function requestHead(lines: readonly string[], start = "POST /a HTTP/1.1"): Head {
  return headOf("request", [start, ...lines]);
}

/** A response head with these header lines; the start line may be given. */
export function responseHead(lines: readonly string[], start = "HTTP/1.1 200 OK"): Head {
  return headOf("response", [start, ...lines]);
}

function headOf(kind: HeadKind, lines: readonly string[]): Head {
  const parser = new HeadParser(kind, LIMITS);
  parser.push(Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), 0);
  return parser.head;
}

/** The code of the WireError that `action` throws; anything else passes through. */
export function wireCode(action: () => unknown): string {
  try {
    action();
    return "";
  } catch (thrown) {
    if (thrown instanceof WireError) return thrown.code;
    throw thrown;
  }
}
