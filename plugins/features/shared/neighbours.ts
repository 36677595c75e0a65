import type { Clock } from "../../../core/contract/clock.ts";
import { BadFact, list, moment, text, whole } from "../../../core/contract/fact-fields.ts";
import { printable } from "../../../core/contract/printable.ts";
import type { Link } from "../../../core/pool/carrier.ts";
import { hmac, isHmac } from "../../../core/runtime/hmac.ts";
import { type Apart, type ApartCause, whyRefused } from "./apart.ts";
import { aheadOf, DIGEST_CHARS, VERSION } from "./message.ts";
import type { Way } from "./way.ts";

// Routers of another group or version listen to another channel, so nothing they say is ever heard. On this channel all of them say who
// they are. Its words keep their meaning from release to release.

const CHANNEL = "signalbox:routers";
/** How often. */
const EVERY_MS = 5_000;
const MOST_CHARS = 8_192;
/** Characters that are looked at in this time. */
const MOST_CHARS_HEARD = 2_000_000;
/** Of a large pool the same few are named by all of its routers: those whose marks come first. */
const MOST_REPLICAS = 64;
const MARK_CHARS = 12;

/** What a router says of itself. */
export interface Presence {
  /** The router, until it is started anew. */
  readonly from: string;
  readonly version: number;
  readonly group: string;
  readonly wallMs: number;
  /** Bytes of a prompt's first block; 0 where no prompts are hashed. */
  readonly blockBytes: number;
  /** Marks of its replicas' addresses. */
  readonly replicas: readonly string[];
}

export type OwnPresence = Omit<Presence, "from" | "version" | "group" | "wallMs">;

/** Tells all routers at the store that this one is there, and finds those that serve the same replicas and do not agree with it. */
export class Neighbours {
  readonly #id: string;
  readonly #clock: Clock;
  readonly #apart: Apart;
  readonly #own: () => OwnPresence;
  #link: Link | undefined;
  #stop: () => void = () => {};
  #heardChars = 0;

  /** `own`: how this router is now. */
  constructor(id: string, clock: Clock, apart: Apart, own: () => OwnPresence) {
    this.#id = id;
    this.#clock = clock;
    this.#apart = apart;
    this.#own = own;
  }

  open({ open, secret, isPublic }: Way, group: string): void {
    this.close();
    if (secret === undefined || !isPublic) return;
    const link = open(CHANNEL, {
      received: (message) => this.#received(message, secret, group),
      up: () => this.#say(secret, group),
      // Whoever carries the other messages tells of it.
      down: () => {},
      lost: () => {},
    });
    this.#link = link;
    this.#stop = this.#clock.every(EVERY_MS, () => this.#say(secret, group));
  }

  close(): void {
    this.#stop();
    this.#link?.close();
    this.#link = undefined;
  }

  #say(secret: string, group: string): void {
    this.#heardChars = 0;
    const wallMs = this.#clock.wall();
    this.#link?.publish(sealedPresence({ from: this.#id, version: VERSION, group, wallMs, ...this.#own() }, secret));
  }

  #received(message: string, secret: string, group: string): void {
    this.#heardChars += message.length;
    if (message.length > MOST_CHARS || this.#heardChars > MOST_CHARS_HEARD) return;
    const json = message.slice(DIGEST_CHARS);
    const other = presenceIn(json);
    if (other === undefined || other.from === this.#id) return;
    const isSealed = isHmac(message.slice(0, DIGEST_CHARS), secret, sealText(json));
    const found = difference(other, { ...this.#own(), group, wallMs: this.#clock.wall() }, isSealed);
    if (found !== undefined) this.#apart.found(other.from, ...found);
  }
}

/** Why a router does not agree with this one; undefined if it does, or serves another pool by the same store. */
function difference(
  other: Presence,
  own: OwnPresence & Pick<Presence, "group" | "wallMs">,
  isSealed: boolean,
): readonly [cause: ApartCause, why: string] | undefined {
  const isOfPool = other.replicas.some((mark) => own.replicas.includes(mark));
  if (!isOfPool && other.group !== own.group) return undefined;
  if (!isSealed) return ["without the common secret", whyRefused("without the common secret")];
  const aheadMs = aheadOf(other.wallMs, own.wallMs);
  if (aheadMs !== undefined) return ["of another time", whyRefused("of another time", aheadMs)];
  if (other.version !== VERSION) return ["of another version", whyOfVersion(other.version)];
  if (other.group !== own.group) return ["of another group", whyOfGroup(other.group, own.group)];
  if (!isOfPool && own.replicas.length > 0 && other.replicas.length > 0) return ["of other replicas", OTHER_REPLICAS];
  const hasOtherBlocks = other.blockBytes > 0 && own.blockBytes > 0 && other.blockBytes !== own.blockBytes;
  return hasOtherBlocks ? ["of other blocks", OTHER_BLOCKS] : undefined;
}

/** What replicas are named by. It hides nothing, as all messages have their addresses: it is short. */
export function marksOf(urls: readonly string[]): readonly string[] {
  const marks = urls.map((url) => hmac("replica", url).slice(0, MARK_CHARS));
  return marks.sort().slice(0, MOST_REPLICAS);
}

export function sealedPresence(presence: Presence, secret: string): string {
  const json = JSON.stringify(presence);
  return hmac(secret, sealText(json)) + json;
}

/** Another text than that of facts, so that none can be taken for the other. */
function sealText(json: string): string {
  return `presence ${json}`;
}

function presenceIn(json: string): Presence | undefined {
  try {
    const { from, version, group, wallMs, blockBytes, replicas } = JSON.parse(json) as Record<keyof Presence, unknown>;
    return {
      from: text(from, 64),
      version: whole(version),
      group: text(group, 253),
      wallMs: moment(wallMs),
      blockBytes: whole(blockBytes),
      replicas: list(replicas, MOST_REPLICAS).map((mark) => text(mark, MARK_CHARS)),
    };
  } catch (thrown) {
    if (thrown instanceof BadFact || thrown instanceof SyntaxError || thrown instanceof TypeError) return undefined;
    throw thrown;
  }
}

function whyOfVersion(version: number): string {
  return `its messages have version ${version}, this router's ${VERSION}: run the same release of Signalbox everywhere`;
}

function whyOfGroup(group: string, own: string): string {
  const shown = printable(group);
  return `it serves the same replicas in the group "${shown}", this router in "${own}": give both the same spec.shared.group, or the same name of the pool`;
}

const OTHER_REPLICAS =
  "none of its replicas has an address that this router knows, so what it does there counts for nothing: write the same urls in both configs";
const OTHER_BLOCKS =
  "it cuts prompts into blocks of another size, so its prompts count for nothing: give both the same settings of the prefix index";
