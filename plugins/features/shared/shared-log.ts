import type { Clock } from "../../../core/contract/clock.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { type Log, silentLog } from "../../../core/contract/log.ts";
import type { Link } from "../../../core/pool/carrier.ts";
import type { RouterAccess } from "../../../core/router-host.ts";
import type { Services } from "../../../core/services.ts";
import type { NamedFeature } from "../../../core/slots.ts";
import { Apart } from "./apart.ts";
import { FeatureFacts, OF_FEATURE } from "./feature-facts.ts";
import { beginOf, lastWords, opened, sealed, sentAtMs, VERSION } from "./message.ts";
import { marksOf, Neighbours } from "./neighbours.ts";
import { Outbox } from "./outbox.ts";
import { OwnBookings } from "./own-bookings.ts";
import { LEASE_MS, Peers } from "./peers.ts";
import { isSameStore, type SharedConfig } from "./shared-config.ts";
import type { SharedView } from "./shared-view.ts";
import { Standings } from "./standings.ts";
import { type Way, wayOf } from "./way.ts";

/** Between two messages; what is said meanwhile is gathered. */
const GATHER_MS = 50;
/** How often a router says all that it has booked, and that it lives. */
const SUMMARY_MS = 1_000;
/** What features said lately is said again with so many summaries. */
const REPEATED_MS = 3 * SUMMARY_MS;
/** A message that nobody has sealed costs time as well; this many characters of such are looked at between two summaries. */
const MOST_STRANGE_CHARS = 16_000_000;
const MINUTE_MS = 60_000;

type Access = Pick<RouterAccess, "load" | "prefixIndex" | "control" | "carrier" | "workers">;

/** What this router says to others by a store, and what it takes from them. It outlives each config. */
export class SharedLog {
  readonly #access: Access;
  readonly #services: Services;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #id = crypto.randomUUID();
  /** How its own messages begin where they are not sealed: most need not be read. */
  readonly #ownBegin = beginOf(this.#id);
  readonly #outbox = new Outbox();
  readonly #own: OwnBookings;
  readonly #standings: Standings;
  readonly #features = new FeatureFacts();
  readonly #peers: Peers;
  readonly #messages = { sent: 0, heard: 0, lost: 0 };
  readonly #apart: Apart;
  readonly #neighbours: Neighbours;
  #config: SharedConfig | undefined;
  /** Undefined while it is alone. */
  #way: Way | undefined;
  #channel = "";
  #link: Link | undefined;
  #leftWords = 0;
  #stopTicking: () => void = () => {};
  #cancelSending: (() => void) | undefined;
  #isHurrying = false;
  #endpoints: readonly Endpoint[] = [];
  #number = 0;
  #sentMs = Number.NEGATIVE_INFINITY;
  #isUp = false;
  #fault = "";
  #heardSelfMs = Number.NaN;
  #delayMs = Number.NaN;
  #strangeChars = 0;
  #toldUpMs = Number.NEGATIVE_INFINITY;
  #toldDownMs = Number.NEGATIVE_INFINITY;

  constructor(access: Access, services: Services) {
    const { clock, log } = services;
    this.#access = access;
    this.#services = services;
    this.#clock = clock;
    this.#log = log;
    this.#own = new OwnBookings(this.#outbox, clock, () => this.#sendSoon());
    this.#standings = new Standings(access, clock, this.#outbox);
    this.#peers = new Peers(access, clock, this.#standings, this.#features);
    this.#apart = new Apart(clock);
    this.#neighbours = new Neighbours(this.#id, clock, this.#apart, () => ({
      blockBytes: this.#blockBytes,
      replicas: marksOf(this.#endpoints.map(({ url }) => url.href)),
    }));
  }

  /** Undefined: from now on it is alone, or agrees with the workers of its program. `features`: all that run with this config. */
  use(config: SharedConfig | undefined, pool: string, features: readonly NamedFeature[]): void {
    const channel = `signalbox:${VERSION}:${config?.group ?? pool}`;
    const way = wayOf(config, this.#access, this.#services);
    const isSame =
      (way === undefined) === (this.#way === undefined) && isSameStore(this.#config, config) && channel === this.#channel;
    if (!isSame) this.#end();
    this.#config = config;
    this.#way = way;
    if (way !== undefined) this.#features.follow(features, () => this.#sendSoon());
    if (isSame) return;
    this.#channel = channel;
    if (way === undefined) return;
    this.#access.load.heard = this.#own;
    this.#apart.log = this.#tell;
    this.#open(way);
    this.#neighbours.open(way, config?.group ?? pool);
    this.#stopTicking = this.#clock.every(SUMMARY_MS, () => this.#tick());
  }

  follow(endpoints: readonly Endpoint[]): void {
    this.#endpoints = endpoints;
    this.#peers.follow(endpoints);
    if (this.#link !== undefined && this.#standings.look(endpoints)) this.#sendSoon();
  }

  close(): void {
    this.#end();
    this.#way = undefined;
  }

  /** Undefined while it is alone. */
  get view(): SharedView | undefined {
    if (this.#way === undefined) return undefined;
    return {
      store: this.#way.text,
      isUp: this.#isUp,
      fault: this.#fault,
      router: this.#id,
      routers: this.#peers.views(),
      delayMs: this.#delayMs,
      messages: { ...this.#messages, dropped: this.#outbox.dropped + this.#features.dropped },
      refused: this.#apart.refusals,
      apart: this.#apart.views(),
      hasMoreApart: this.#apart.hasMore,
      facts: this.#peers.facts,
    };
  }

  #open(way: Way): void {
    this.#heardSelfMs = this.#clock.now();
    const events = {
      received: (message: string) => this.#received(message, way),
      up: () => this.#up(),
      down: (why: string) => this.#down(why),
      lost: () => void this.#messages.lost++,
    };
    this.#link = way.open(this.#channel, events);
    this.#leaveWords();
  }

  /** If this process dies, drains and cordons stay known, and what it had booked is free at once. */
  #leaveWords(): void {
    this.#leftWords = this.#standings.wordCount;
    if (this.#link?.leaveBehind === undefined || this.#way?.secret !== undefined) return;
    const outbox = new Outbox();
    this.#standings.sayIntents(outbox);
    this.#link.leaveBehind(lastWords(this.#id, outbox.take()));
  }

  #end(): void {
    if (this.#link === undefined) return;
    this.#outbox.add("gone");
    this.#send();
    this.#stopTicking();
    this.#link.close();
    this.#neighbours.close();
    this.#apart.clear();
    this.#link = undefined;
    this.#access.load.heard = undefined;
    this.#isUp = false;
    this.#fault = "";
    this.#peers.dropAll();
    this.#features.follow([], () => {});
  }

  #up(): void {
    const nowMs = this.#clock.now();
    this.#heardSelfMs = nowMs;
    if (this.#isUp) return;
    this.#isUp = true;
    this.#fault = "";
    if (nowMs - this.#toldUpMs >= MINUTE_MS) this.#tell.info("Routers agree by the store", { store: this.#text });
    this.#toldUpMs = nowMs;
    this.#sayAll();
  }

  #down(why: string): void {
    this.#isUp = false;
    this.#fault = why;
    // One that comes and goes is told of once a minute.
    if (this.#clock.now() - this.#toldDownMs < MINUTE_MS) return;
    this.#toldDownMs = this.#clock.now();
    const fields = { store: this.#text, why };
    this.#log.warn("The store by which routers agree is gone: this router goes on with what it knows", fields);
  }

  /** Of workers, which come and go together, their program tells. */
  get #tell(): Log {
    return this.#way?.secret === undefined ? silentLog : this.#log;
  }

  get #text(): string {
    return this.#way?.text ?? "";
  }

  /** 0 where no prompts are hashed. */
  get #blockBytes(): number {
    return this.#access.prefixIndex()?.ends[0] ?? 0;
  }

  #tick(): void {
    const nowMs = this.#clock.now();
    this.#heardSelfMs = Math.min(nowMs, this.#heardSelfMs + this.#peers.stoodStill(SUMMARY_MS));
    this.#strangeChars = 0;
    for (const router of this.#peers.expire()) this.#tell.warn("Another router has gone: what it had booked is free", { router });
    this.#standings.look(this.#endpoints);
    if (this.#isUp && nowMs - this.#heardSelfMs > LEASE_MS) {
      // It takes messages and gives none: the connection is opened anew.
      this.#down("it does not send back what it is sent");
      this.#link?.close();
      if (this.#way !== undefined) this.#open(this.#way);
    }
    this.#features.repeat(REPEATED_MS);
    this.#summary();
  }

  /** To those who have not heard it. */
  #sayAll(): void {
    this.#standings.sayEjections(this.#endpoints);
    this.#features.repeat(Number.POSITIVE_INFINITY);
    this.#summary();
  }

  #summary(): void {
    // Apart from what waits to be said: both together may be too long.
    this.#send();
    this.#own.summary();
    this.#standings.sayIntents();
    this.#send();
  }

  /** The first news behind a pause goes at once, but behind the request that says it. */
  #sendSoon(): void {
    if (this.#cancelSending === undefined) {
      const waitMs = Math.max(0, this.#sentMs + GATHER_MS - this.#clock.now(), this.#link?.waitMs ?? 0);
      this.#cancelSending = this.#clock.after(waitMs, () => this.#send());
    }
    if (!this.#outbox.isFull || this.#isHurrying) return;
    // Behind the request that says it.
    this.#isHurrying = true;
    this.#cancelSending();
    this.#cancelSending = this.#clock.after(0, () => this.#send());
  }

  #send(): void {
    this.#cancelSending?.();
    this.#cancelSending = undefined;
    this.#isHurrying = false;
    const way = this.#way;
    if (!this.#isUp || way === undefined || this.#link === undefined) return this.#outbox.clear();
    const isLeft = this.#features.say(this.#outbox);
    const { facts, replicas } = this.#outbox.take();
    if (facts.length === 0) return;
    const [wallMs, nowMs] = [this.#clock.wall(), this.#clock.now()];
    const blockBytes = this.#blockBytes;
    this.#number += 1;
    this.#sentMs = nowMs;
    const batch = { from: this.#id, number: this.#number, wallMs, nowMs, blockBytes, replicas, facts };
    this.#link.publish(sealed(batch, way.secret));
    if (this.#leftWords !== this.#standings.wordCount) this.#leaveWords();
    this.#messages.sent += 1;
    if (isLeft) this.#sendSoon();
  }

  #received(message: string, { secret }: Way): void {
    if (this.#strangeChars > MOST_STRANGE_CHARS) return void this.#apart.refusals["without the common secret"]++;
    const isOwn = secret === undefined && message.startsWith(this.#ownBegin);
    if (isOwn && !message.includes(`["${OF_FEATURE}"`)) return this.#heardSelf(sentAtMs(message));
    const batch = opened(message, secret, this.#clock.wall());
    if ("refusal" in batch) {
      this.#apart.refused(batch, this.#id);
      this.#strangeChars += message.length;
      return;
    }
    if (batch.from === this.#id) {
      this.#heardSelf(batch.nowMs);
      const settledMs = this.#link?.settledMs ?? 0;
      if (settledMs === 0) this.#peers.heardSelf(batch);
      else this.#clock.after(settledMs, () => this.#peers.heardSelf(batch));
      return;
    }
    this.#messages.heard += 1;
    const isNew = this.#peers.heard(batch);
    if (this.#leftWords !== this.#standings.wordCount) this.#leaveWords();
    if (!isNew) return;
    this.#tell.info("Another router has come", { router: batch.from });
    this.#sayAll();
  }

  #heardSelf(sentMs: number): void {
    this.#heardSelfMs = this.#clock.now();
    this.#delayMs = Math.max(0, this.#heardSelfMs - sentMs);
  }
}
