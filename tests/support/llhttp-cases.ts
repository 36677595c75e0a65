import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { HeadKind } from "../../core/wire/head-parser.ts";
import { sharedPath } from "./shared.ts";

/** "surplus": bytes after a message that ends its connection. */
export type LlhttpVerdict = "read" | "refused" | "surplus";

/** One of llhttp's own cases, and what llhttp makes of it in its strict modes. */
export interface LlhttpCase {
  readonly kind: HeadKind;
  readonly name: string;
  readonly bytes: Buffer;
  /** The reader is told that no message has a body. */
  readonly hasNoBodies: boolean;
  readonly verdict: LlhttpVerdict;
  readonly messages: readonly LlhttpMessage[];
}

export interface LlhttpMessage {
  method: string;
  url: string;
  status: number;
  /** As latin1. */
  body: string;
  isComplete: boolean;
  /** What the Connection header says. */
  connection: "close" | "keep-alive" | "";
  /** The version is HTTP/1.minor. */
  minor: number;
  /** Neither a length nor chunks say where the body ends. */
  isUnframed: boolean;
  /** Where a complete message ends. */
  endAt: number;
}

// llhttp's flags.
const KEEP_ALIVE = 1;
const CLOSE = 2;
const CHUNKED = 8;
const CONTENT_LENGTH = 0x20;

/** Pauses and the hand-over at an upgrade are calls into the program, not errors. */
const PAUSES: readonly number[] = [21, 22, 23];
const AFTER_CLOSE = 5;

/** Every case of one kind in the strict modes; undefined where the corpus is absent. */
export function llhttpCases(kind: HeadKind): readonly LlhttpCase[] | undefined {
  const root = sharedPath(`corpora/llhttp-http1/test/${kind}`);
  if (root === undefined) return undefined;
  const files = readdirSync(root).filter((file) => file.endsWith(".md"));
  return files.sort().flatMap((file) => casesIn(readFileSync(join(root, file), "utf8"), kind, file.replace(".md", "")));
}

/** A case is a title, a line of meta data, an http block and a log block, in this order. */
function casesIn(page: string, kind: HeadKind, file: string): LlhttpCase[] {
  const cases: LlhttpCase[] = [];
  let title = "";
  let meta = { type: "", skipBody: false };
  let input = "";
  for (const [, heading, json, http, log] of page.matchAll(
    /^#+ +(.*)$|<!--\s*meta=(\{.*?\})\s*-->|```http\n([\s\S]*?)```|```log\n([\s\S]*?)```/gm,
  )) {
    if (heading !== undefined) title = heading;
    if (json !== undefined) meta = JSON.parse(json);
    if (http !== undefined) input = http;
    if (log === undefined || meta.type.includes("lenient")) continue;
    const bytes = bytesOf(input);
    const [name, hasNoBodies] = [`${kind}/${file} ${title}`, meta.skipBody === true];
    cases.push({ kind, name, bytes, hasNoBodies, verdict: verdictOf(log), messages: messagesOf(log, bytes) });
  }
  return cases;
}

function bytesOf(input: string): Buffer {
  const text = input
    .replace(/\n$/, "")
    .replace(/\\\n/g, "")
    .replace(/\n/g, "\r\n")
    .replace(/\\r/g, "\r")
    .replace(/\\n/g, "\n")
    .replace(/\\t/g, "\t")
    .replace(/\\f/g, "\f")
    // Many cases about something else have a fragment, which we refuse; one case is about that.
    .replace("#hey", "&hey");
  return Buffer.concat(
    text
      .split(/(\\x[0-9a-fA-F]{2})/)
      .map((part) => (part.startsWith("\\x") ? Buffer.from(part.slice(2), "hex") : Buffer.from(part))),
  );
}

function verdictOf(log: string): LlhttpVerdict {
  const code = Number(/error code=(\d+)/.exec(log)?.[1] ?? 0);
  if (code === 0 || PAUSES.includes(code)) return "read";
  return code === AFTER_CLOSE ? "surplus" : "refused";
}

/** Puts the messages together again from the events. */
function messagesOf(log: string, bytes: Buffer): LlhttpMessage[] {
  const messages: LlhttpMessage[] = [];
  for (const [, offset, length, event] of log.matchAll(/^off=(\d+)(?: len=(\d+))? (.*)$/gm)) {
    if (event === "message begin") messages.push(emptyMessage());
    const message = messages.at(-1);
    if (message === undefined) continue;
    const at = Number(offset);
    const text = bytes.toString("latin1", at, at + Number(length ?? 0));
    switch (/^[^=]*/.exec(event!)![0]) {
      case "span[method]":
        message.method += text;
        break;
      case "span[url]":
        message.url += text;
        break;
      case "span[body]":
        message.body += text;
        break;
      case "headers complete method":
      case "headers complete status":
        headComplete(message, event!);
        break;
      case "message complete":
        message.isComplete = true;
        message.endAt = at;
    }
  }
  return messages;
}

function emptyMessage(): LlhttpMessage {
  return { method: "", url: "", status: 0, body: "", isComplete: false, connection: "", minor: 1, isUnframed: false, endAt: 0 };
}

function headComplete(message: LlhttpMessage, event: string): void {
  const flags = Number.parseInt(/flags=(\w+)/.exec(event)![1]!, 16);
  message.status = Number(/status=(\d+)/.exec(event)?.[1] ?? 0);
  message.minor = Number(/v=1\/(\d)/.exec(event)?.[1]);
  message.connection = (flags & CLOSE) > 0 ? "close" : (flags & KEEP_ALIVE) > 0 ? "keep-alive" : "";
  message.isUnframed = (flags & (CHUNKED | CONTENT_LENGTH)) === 0;
}
