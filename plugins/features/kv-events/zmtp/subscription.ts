import type { Clock } from "../../../../core/contract/clock.ts";
import type { EndpointUrl } from "../../../../core/contract/endpoint.ts";
import { afterAwake } from "../../../../core/contract/standstill.ts";
import type { SubscriptionOwner } from "../../../../core/pool/engine-wire.ts";
import { ZmtpConnection } from "./connection.ts";

export interface SubscriptionOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly url: EndpointUrl;
  /** Messages whose first part begins with it; "" for all. */
  readonly topic: string;
  readonly maxBytes: number;
}

/** For the greeting and the READY command of the peer. */
const HANDSHAKE_MS = 10_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
/** A connection that lasted so long was a good one: after it, pauses are short again. */
const GOOD_MS = 30_000;

/** Follows a publisher for as long as it is wanted: connects again when the connection ends, after longer and longer pauses. */
export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #owner: SubscriptionOwner;
  #connection: ZmtpConnection | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #cancelTimer: () => void = () => {};
  #isStopped = false;

  constructor(options: SubscriptionOptions, owner: SubscriptionOwner) {
    this.#options = options;
    this.#owner = owner;
    this.#connect();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
    this.#connection?.close();
  }

  #connect(): void {
    if (this.#isStopped) return;
    const { clock, url, topic, maxBytes } = this.#options;
    let openedAtMs = Number.NaN;
    const ended = (why: string) => {
      this.#cancelTimer();
      if (clock.now() - openedAtMs > GOOD_MS) this.#pauseMs = FIRST_PAUSE_MS;
      this.#again();
      this.#owner.disconnected(why);
    };
    const connection = new ZmtpConnection(
      { url, type: "SUB", maxBytes },
      {
        opened: () => {
          this.#cancelTimer();
          openedAtMs = clock.now();
          connection.send(new Uint8Array([1, ...new TextEncoder().encode(topic)]));
          this.#owner.connected();
        },
        message: (parts) => this.#owner.message(parts),
        ended,
      },
    );
    this.#connection = connection;
    this.#cancelTimer = afterAwake(clock, HANDSHAKE_MS, () => {
      connection.close();
      ended("it did not greet in time");
    });
  }

  #again(): void {
    const { clock, random } = this.#options;
    const pauseMs = this.#pauseMs * (0.75 + 0.5 * random());
    this.#pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * this.#pauseMs);
    this.#cancelTimer = clock.after(pauseMs, () => this.#connect());
  }
}
