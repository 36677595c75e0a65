import type { Redis } from "ioredis";
import { printable } from "../../../core/contract/printable.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import type { Link, LinkEvents } from "../../../core/pool/carrier.ts";
import { ANSWER_MS, MOST_MESSAGE_CHARS, MOST_UNANSWERED, RETRY_MS, type Store, type StorePlace } from "./link.ts";

// The only file that knows ioredis. It is loaded only by programs whose config names a Redis or Valkey.

const PACKAGE = "ioredis";
/** Of the connection that listens: so many bytes without the end of a message, and it is closed. */
const MOST_PENDING_BYTES = 4 * MOST_MESSAGE_CHARS;

let client: Pick<typeof import("ioredis"), "Redis"> | undefined;

/** Loads the package. Rejects with an Error that says how to install it. */
export async function loadRedis(): Promise<void> {
  try {
    client ??= await import("ioredis");
  } catch (thrown) {
    throw new Error(`the package ${PACKAGE} (${printable(thrownMessage(thrown))}): npm install ${PACKAGE}@6`, {
      cause: thrown,
    });
  }
}

/** A channel of a Redis or Valkey: what is published there is kept nowhere. */
export function redisStore(place: StorePlace): Store {
  return { text: place.url, open: (channel, events) => new RedisLink(place, channel, events) };
}

/** Two connections, because one that listens can't publish in the older protocol. */
class RedisLink implements Link {
  readonly #channel: string;
  readonly #events: LinkEvents;
  readonly #publisher: Redis;
  readonly #subscriber: Redis;
  #isSubscribed = false;
  #isUp = false;
  #isClosed = false;
  #unanswered = 0;

  constructor(place: StorePlace, channel: string, events: LinkEvents) {
    if (client === undefined) throw new Error(`${PACKAGE} is not loaded`);
    this.#channel = channel;
    this.#events = events;
    this.#publisher = new client.Redis(place.url, optionsOf(place));
    this.#subscriber = new client.Redis(place.url, optionsOf(place));
    for (const connection of [this.#publisher, this.#subscriber]) {
      // Why it was closed, such as a wrong password, is said before.
      let fault = "";
      connection.on("error", (error: Error) => {
        fault = error.message;
        this.#down(fault);
      });
      connection.on("close", () => {
        this.#down(fault === "" ? "the connection was closed" : fault);
        fault = "";
      });
    }
    this.#publisher.on("ready", () => this.#maybeUp());
    this.#subscriber.on("ready", () => void this.#subscribe());
    this.#listen();
  }

  publish(message: string): void {
    if (!this.#isUp || this.#unanswered >= MOST_UNANSWERED) return this.#events.lost();
    this.#unanswered += 1;
    const end = () => {
      this.#unanswered -= 1;
    };
    this.#publisher.publish(this.#channel, message).then(end, (thrown: unknown) => {
      end();
      if (this.#isUp && !this.#isClosed) this.#leave(thrownMessage(thrown));
    });
  }

  /** A store that does not answer: both connections may be dead, and it is up again when it has answered on both. */
  #leave(why: string): void {
    this.#down(why);
    this.#isSubscribed = false;
    for (const connection of [this.#publisher, this.#subscriber]) if (connection.status === "ready") connection.disconnect(true);
  }

  close(): void {
    this.#isClosed = true;
    this.#publisher.disconnect();
    this.#subscriber.disconnect();
  }

  /** Whoever may write into the store could send more than memory holds. */
  #listen(): void {
    let pending = 0;
    this.#subscriber.on("message", (_channel: string, message: string) => {
      pending = 0;
      if (!this.#isClosed) this.#events.received(message);
    });
    this.#subscriber.on("connect", () => {
      pending = 0;
      const { stream } = this.#subscriber;
      stream.on("data", (chunk: Uint8Array) => {
        pending += chunk.length;
        if (pending > MOST_PENDING_BYTES) stream.destroy();
      });
    });
  }

  async #subscribe(): Promise<void> {
    try {
      await this.#subscriber.subscribe(this.#channel);
      this.#isSubscribed = true;
      this.#maybeUp();
    } catch (thrown) {
      this.#down(thrownMessage(thrown));
      if (!this.#isClosed) this.#subscriber.disconnect(true);
    }
  }

  #maybeUp(): void {
    if (this.#isClosed || !this.#isSubscribed || this.#publisher.status !== "ready") return;
    this.#isUp = true;
    this.#events.up();
  }

  #down(why: string): void {
    this.#isUp = false;
    if (this.#subscriber.status !== "ready") this.#isSubscribed = false;
    if (!this.#isClosed) this.#events.down(printable(why));
  }
}

function optionsOf({ username, password }: StorePlace) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: password.reveal() }),
    protocol: 2 as const,
    connectTimeout: ANSWER_MS,
    commandTimeout: ANSWER_MS,
    retryStrategy: () => RETRY_MS,
    maxRetriesPerRequest: 0,
    // What could not be sent at once is out of date.
    enableOfflineQueue: false,
    // It asks for more than a user needs who may publish and subscribe alone.
    enableReadyCheck: false,
    autoResubscribe: false,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
  };
}
