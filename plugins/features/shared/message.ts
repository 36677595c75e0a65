import { BadFact, list, moment, text, whole } from "../../../core/contract/fact-fields.ts";
import { hmac, isHmac } from "../../../core/runtime/hmac.ts";
import { MOST_MESSAGE_CHARS } from "./link.ts";

// A message is a digest with the common secret, and JSON behind it. What one says, releases add to: facts and fields that a router does
// not know are passed over. A release that gives a known field another meaning raises VERSION, which is a part of the channel's name.

export const VERSION = 1;
export const DIGEST_CHARS = 43;
const MOST_FACTS = 20_000;
const MOST_REPLICAS = 4_096;
const MOST_URL_CHARS = 2_048;
/** Clocks of machines differ; a message that seems older or newer than this is none of now. */
const MOST_SKEW_MS = 60_000;

/** One thing that a router says: its name, and fields by their places. */
export type Fact = readonly [name: string, ...fields: unknown[]];

export interface Batch {
  /** The router that says it, until it is started anew. */
  readonly from: string;
  /** Grows with each of its messages. */
  readonly number: number;
  /** When it was sent, in milliseconds since 1970. */
  readonly wallMs: number;
  /** The same on the clock that moments in its facts are on. */
  readonly nowMs: number;
  /** Bytes of a prompt's first block; 0 where no prompts are hashed. */
  readonly blockBytes: number;
  /** Addresses of replicas; facts name them by their places here. */
  readonly replicas: readonly string[];
  readonly facts: readonly Fact[];
}

/** Why a message is not read. */
export type Refusal = "too long" | "without the common secret" | "unreadable" | "of another time";

/** A message that is not read. */
export interface Refused {
  readonly refusal: Refusal;
  /** Who says that it is his; "" for nobody. */
  readonly from: string;
  /** By so much the clock of the router is before this one's, where that is why. */
  readonly aheadMs: number;
}

/** Without a secret, no digest goes before it. */
export function sealed(batch: Batch, secret: string | undefined): string {
  const json = JSON.stringify(batch);
  return secret === undefined ? json : hmac(secret, `facts ${json}`) + json;
}

/** What the others are to hear of a router that has died: its words, whatever it said before. */
export function lastWords(from: string, { facts, replicas }: Pick<Batch, "facts" | "replicas">): string {
  const number = Number.MAX_SAFE_INTEGER;
  return sealed({ from, number, wallMs: 0, nowMs: 0, blockBytes: 0, replicas, facts: [...facts, ["gone"]] }, undefined);
}

/** How the messages of a router begin where they have no digest. */
export function beginOf(from: string): string {
  return `{"from":${JSON.stringify(from)},`;
}

/** When such a message was sent, by the clock of its router. */
export function sentAtMs(message: string): number {
  return Number(/"nowMs":([\d.]+)/.exec(message.slice(0, 500))?.[1]);
}

export function opened(message: string, secret: string | undefined, wallMs: number): Batch | Refused {
  const refused = (refusal: Refusal, aheadMs = 0): Refused => ({ refusal, from: senderOf(message, secret), aheadMs });
  if (message.length > MOST_MESSAGE_CHARS) return refused("too long");
  const json = secret === undefined ? message : message.slice(DIGEST_CHARS);
  if (secret !== undefined && !isHmac(message.slice(0, DIGEST_CHARS), secret, `facts ${json}`))
    return refused("without the common secret");
  try {
    const batch = batchOf(JSON.parse(json));
    // Without a secret it is of this machine, whose clock is the hearer's; last words were written at any time.
    if (secret === undefined) return { ...batch, wallMs };
    const aheadMs = aheadOf(batch.wallMs, wallMs);
    return aheadMs === undefined ? batch : refused("of another time", aheadMs);
  } catch {
    return refused("unreadable");
  }
}

/** By how much a clock is before this router's, if that is too much for either to be right; undefined otherwise. */
export function aheadOf(wallMs: number, ownWallMs: number): number | undefined {
  const aheadMs = wallMs - ownWallMs;
  return Math.abs(aheadMs) > MOST_SKEW_MS ? aheadMs : undefined;
}

/** Whom a message names as its sender. It is read where all messages have it, without the rest, which may be anything. */
function senderOf(message: string, secret: string | undefined): string {
  const start = secret === undefined ? 0 : DIGEST_CHARS;
  return /^\{"from":"([^"\\]{1,64})"/.exec(message.slice(start, start + 100))?.[1] ?? "";
}

function batchOf(read: unknown): Batch {
  if (typeof read !== "object" || read === null) throw new BadFact("no mapping");
  const { from, number, wallMs, nowMs, blockBytes, replicas, facts } = read as Record<keyof Batch, unknown>;
  return {
    from: text(from, 64),
    number: whole(number),
    wallMs: moment(wallMs),
    nowMs: moment(nowMs),
    blockBytes: whole(blockBytes),
    replicas: list(replicas, MOST_REPLICAS).map((url) => text(url, MOST_URL_CHARS)),
    facts: list(facts, MOST_FACTS).map(factOf),
  };
}

function factOf(read: unknown): Fact {
  const [name, ...fields] = list(read, 16);
  return [text(name, 64), ...fields];
}

/** What prompts are hashed with: all routers with the same secret have the same hashes. */
export function prefixSecretOf(secret: string, words: number): readonly number[] {
  const digest = hmac(secret, "prefixes");
  const bytes = Uint8Array.from(atob(digest.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Array.from({ length: words }, (_, word) => view.getUint32(4 * word, true));
}
