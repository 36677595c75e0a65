import type { Clock } from "../../../core/contract/clock.ts";
import type { EndpointUrl } from "../../../core/contract/endpoint.ts";
import type { EngineWire, ReplayOwner, SubscriptionOwner } from "../../../core/pool/engine-wire.ts";
import { BatchReading } from "./batch-reading.ts";
import type { BlockBudget } from "./cache/block-table.ts";
import type { EngineBlocks } from "./cache/engine-blocks.ts";
import { MOST_WAITING, MOST_WAITING_BYTES } from "./in-order.ts";
import { replay, sequenceOf } from "./zmtp/replay.ts";
import { Subscription } from "./zmtp/subscription.ts";

/** Where an engine publishes its events. */
export interface EventAddress {
  /** The data-parallel rank; 0 where there is one engine. */
  readonly rank: number;
  readonly url: EndpointUrl;
  /** Where missed events are asked for; undefined if nowhere. */
  readonly replayUrl: EndpointUrl | undefined;
}

export interface PublisherOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly address: EventAddress;
  readonly topic: string;
  readonly maxMessageBytes: number;
  readonly budget: BlockBudget;
  /** In place of sockets. */
  readonly wire: EngineWire | undefined;
  /** The engine's cache is empty now: it restarted, or dropped all. */
  readonly emptied: () => void;
}

/** connecting: no connection; catching-up: asks for what it missed; following: what the engine says is known. */
export type PublisherState = "connecting" | "catching-up" | "following";

/** A publisher whose numbers have gaps all the time is not asked for each of them. */
const REPLAY_PAUSE_MS = 1_000;

interface Waiting {
  readonly sequence: number;
  readonly payload: Uint8Array;
}

/** Follows the events of one engine: notices gaps and restarts by the numbers of the batches, and asks again for what it missed. */
export class Publisher {
  readonly address: EventAddress;
  state: PublisherState = "connecting";
  /** Why there is no connection, or no replay; "" if all is well. */
  trouble = "it has not answered yet";
  /** When the last batch came, on the router's clock. */
  heardAtMs = Number.NaN;
  gaps = 0;
  restarts = 0;
  readonly #options: PublisherOptions;
  readonly #subscription: { stop(): void };
  readonly #batches: BatchReading;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #stopReplay: () => void = () => {};
  /** When there was a gap last. */
  #missedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: PublisherOptions) {
    const { clock, random, address, topic, maxMessageBytes, budget, wire } = options;
    this.#options = options;
    this.address = address;
    this.#batches = new BatchReading(clock, budget, () => this.#options.emptied());
    const owner: SubscriptionOwner = {
      connected: () => this.#catchUp(),
      message: (parts) => this.#arrived(parts),
      disconnected: (why) => this.#disconnected(why),
    };
    this.#subscription =
      wire?.subscribe(address.url.hostname, owner) ??
      new Subscription({ clock, random, url: address.url, topic, maxBytes: maxMessageBytes }, owner);
  }

  get blocks(): EngineBlocks {
    return this.#batches.blocks;
  }

  /** Batches so far. */
  get batches(): number {
    return this.#batches.count;
  }

  /** Batches that could not be read. */
  get malformed(): number {
    return this.#batches.malformed;
  }

  /** Another process is behind the address: what is known is of the one before. */
  replaced(): void {
    this.#batches.startOver();
    if (this.state !== "connecting") this.#catchUp();
  }

  stop(): void {
    this.#subscription.stop();
    this.#stopReplay();
    this.#batches.startOver();
  }

  #disconnected(why: string): void {
    this.#stopReplay();
    if (this.#batches.order.isBusy) this.#batches.startOver();
    this.#dropWaiting();
    this.state = "connecting";
    this.trouble = why;
  }

  #arrived(parts: readonly Uint8Array[]): void {
    const sequence = parts.length === 3 ? sequenceOf(parts[1]) : undefined;
    if (sequence === undefined || sequence < 0) throw new Error("what it publishes are no events of a cache");
    this.heardAtMs = this.#options.clock.now();
    this.#nextBatch(parts[2]!, (payload) => {
      if (this.state === "catching-up") this.#wait(sequence, payload);
      else this.#follow(sequence, payload);
    });
  }

  /** Bytes that have to wait are copied: those that came are overwritten. */
  #nextBatch(payload: Uint8Array, run: (payload: Uint8Array) => void): void {
    const kept = this.#batches.order.isBusy ? payload.slice() : payload;
    if (this.#batches.order.next(() => run(kept), kept.length)) return;
    this.#batches.startOver();
    this.#dropWaiting();
    this.#stopReplay();
    this.#goOnWithout("more is published than can be read");
  }

  #follow(sequence: number, payload: Uint8Array): void {
    const expected = this.#batches.last === undefined ? undefined : this.#batches.last.sequence + 1;
    if (expected === undefined) {
      this.#begin(sequence);
      this.#batches.take(sequence, payload);
    } else if (sequence === expected) this.#batches.take(sequence, payload);
    else if (sequence < expected) {
      this.restarts += 1;
      this.#batches.last = undefined;
      this.blocks.forget(sequence === 0);
      this.#options.emptied();
      if (sequence === 0) this.#batches.take(sequence, payload);
      else this.#missed(sequence, payload);
    } else {
      this.gaps += 1;
      this.#missed(sequence, payload);
    }
  }

  /** Asks for what is between. */
  #missed(sequence: number, payload: Uint8Array): void {
    const nowMs = this.#options.clock.now();
    const isRare = nowMs - this.#missedAtMs > REPLAY_PAUSE_MS;
    this.#missedAtMs = nowMs;
    if (isRare) this.#catchUp();
    else this.#goOnWithout("its batches have gaps all the time");
    if (this.state === "catching-up") this.#wait(sequence, payload);
    else {
      this.#begin(sequence);
      this.#batches.take(sequence, payload);
    }
  }

  #begin(sequence: number): void {
    if (sequence === 0) this.blocks.isWhole = true;
  }

  /** What was published while nobody listened is asked for, from the last batch on: that one shows whether it is the same process. */
  #catchUp(): void {
    this.#stopReplay();
    const { clock, address, maxMessageBytes, wire } = this.#options;
    const { replayUrl } = address;
    if (replayUrl === undefined) return this.#goOnWithout("");
    this.state = "catching-up";
    const known = this.#batches.last;
    let isFirst = true;
    const from = known?.sequence ?? 0;
    const take = (sequence: number, payload: Uint8Array) => {
      if (isFirst && known === undefined) this.#begin(sequence);
      else if (isFirst && !isSame(known!, sequence, payload)) return this.#startAnew();
      else if (isFirst) {
        isFirst = false;
        return;
      }
      isFirst = false;
      // A gap in a replay is one of the publisher's own buffer.
      if (this.#batches.last !== undefined && sequence !== this.#batches.last.sequence + 1) this.blocks.forget(false, "missed");
      this.#batches.take(sequence, payload);
    };
    const done = () => {
      if (isFirst && known !== undefined) return this.#startAnew();
      // Who has never published anything holds nothing.
      if (isFirst) this.#begin(0);
      this.#caughtUp("");
    };
    let isStopped = false;
    const unlessStopped = (run: () => void) => () => void (isStopped || run());
    const owner: ReplayOwner = {
      replayed: (sequence, payload) => this.#nextBatch(payload, (kept) => unlessStopped(() => take(sequence, kept))()),
      done: () => this.#batches.order.next(unlessStopped(done)),
      failed: (why) => this.#batches.order.next(unlessStopped(() => this.#goOnWithout(`its replay: ${why}`))),
    };
    const stop =
      wire?.replay(address.url.hostname, from, owner) ??
      replay({ clock, url: replayUrl, from, maxBytes: maxMessageBytes }, owner);
    this.#stopReplay = () => {
      isStopped = true;
      stop();
    };
  }

  /** Another process answered than the one whose events are known. */
  #startAnew(): void {
    this.restarts += 1;
    this.#batches.last = undefined;
    this.blocks.forget(false);
    this.#options.emptied();
    this.#catchUp();
  }

  /** Nothing says what was missed, so what is known may be wrong. */
  #goOnWithout(why: string): void {
    if (this.#batches.last !== undefined) this.blocks.forget(false, "missed");
    this.#batches.last = undefined;
    this.#caughtUp(why);
  }

  #goOnFrom(sequence: number): void {
    this.blocks.forget(false, "missed");
    this.#batches.last = { sequence: sequence - 1, time: Number.NaN };
  }

  #caughtUp(trouble: string): void {
    this.state = "following";
    this.trouble = trouble;
    const waiting = this.#waiting;
    this.#dropWaiting();
    this.#batches.order.first(waiting.map((each) => () => this.#takeWaiting(each)));
  }

  #takeWaiting({ sequence, payload }: Waiting): void {
    const isKnown = this.#batches.last !== undefined && sequence <= this.#batches.last.sequence;
    if (isKnown) return;
    // What the replay did not bring nobody brings.
    if (this.#batches.last !== undefined && sequence > this.#batches.last.sequence + 1) this.#goOnFrom(sequence);
    if (this.#batches.last === undefined) this.#begin(sequence);
    this.#batches.take(sequence, payload);
  }

  #wait(sequence: number, payload: Uint8Array): void {
    if (this.#waiting.length >= MOST_WAITING || this.#waitingBytes > MOST_WAITING_BYTES) {
      this.#dropWaiting();
      this.#stopReplay();
      this.#goOnWithout("its replay: too much was published meanwhile");
      return;
    }
    this.#waiting.push({ sequence, payload: payload.slice() });
    this.#waitingBytes += payload.length;
  }

  #dropWaiting(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}

/** Whether the batch is the one that was taken last, of the same process. */
function isSame(last: { readonly sequence: number; readonly time: number }, sequence: number, payload: Uint8Array): boolean {
  if (sequence !== last.sequence) return false;
  // A list of two or three members, the first of which is a double.
  if (payload.length < 10 || payload[1] !== 0xcb) return Number.isNaN(last.time);
  return new DataView(payload.buffer, payload.byteOffset + 2, 8).getFloat64(0) === last.time;
}
