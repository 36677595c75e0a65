import type { NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "../../../core/contract/clock.ts";
import { printable } from "../../../core/contract/printable.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import type { Link, LinkEvents } from "../../../core/pool/carrier.ts";
import { ANSWER_MS, RETRY_MS, type Store, type StorePlace } from "./link.ts";

// The only file that knows NATS. It is loaded only by programs whose config names one.

const PACKAGE = "@nats-io/transport-node";

let client: typeof import("@nats-io/transport-node") | undefined;

/** Loads the package. Rejects with an Error that says how to install it. */
export async function loadNats(): Promise<void> {
  try {
    client ??= await import("@nats-io/transport-node");
  } catch (thrown) {
    throw new Error(`the package ${PACKAGE} (${printable(thrownMessage(thrown))}): npm install ${PACKAGE}@3`, { cause: thrown });
  }
}

/** A subject of a NATS server: what is published there is kept nowhere. */
export function natsStore(place: StorePlace): Store {
  return { text: place.url, open: (channel, events, { clock }) => new NatsLink(place, channel, events, clock) };
}

class NatsLink implements Link {
  readonly #place: StorePlace;
  readonly #subject: string;
  readonly #events: LinkEvents;
  readonly #clock: Clock;
  #connection: NatsConnection | undefined;
  #isUp = false;
  #isClosed = false;
  #cancelRetry: () => void = () => {};

  constructor(place: StorePlace, channel: string, events: LinkEvents, clock: Clock) {
    this.#place = place;
    // Dots would make levels of it.
    this.#subject = channel.replaceAll(":", ".");
    this.#events = events;
    this.#clock = clock;
    void this.#connect();
  }

  publish(message: string): void {
    if (!this.#isUp) return;
    try {
      this.#connection?.publish(this.#subject, message);
    } catch (thrown) {
      this.#down(thrownMessage(thrown));
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelRetry();
    const connection = this.#connection;
    if (connection === undefined) return;
    const closeNow = () => void connection.close().catch(() => {});
    if (!this.#isUp) return closeNow();
    // What was published last is on its way still. A server that does not answer is waited for no longer than otherwise: the client
    // would try to reach it for ever.
    const cancel = this.#clock.after(ANSWER_MS, closeNow);
    void connection.drain().catch(closeNow).finally(cancel);
  }

  /** Its own retries begin only behind the first success. */
  async #connect(): Promise<void> {
    if (client === undefined) throw new Error(`${PACKAGE} is not loaded`);
    try {
      const connection = await client.connect(this.#options());
      this.#connection = connection;
      if (this.#isClosed) return void (await connection.close());
      connection.subscribe(this.#subject, {
        callback: (error, message) => {
          if (error === null && !this.#isClosed) this.#events.received(message.string());
        },
      });
      this.#up();
      for await (const { type } of connection.status()) {
        if (type === "reconnect") this.#up();
        else if (type === "disconnect" || type === "staleConnection") this.#down("the connection was closed");
      }
    } catch (thrown) {
      this.#down(thrownMessage(thrown));
    }
    if (!this.#isClosed) this.#cancelRetry = this.#clock.after(RETRY_MS, () => void this.#connect());
  }

  #options() {
    const { url, username, password } = this.#place;
    const secret = password?.reveal();
    return {
      servers: url,
      ...(username !== undefined && { user: username, pass: secret ?? "" }),
      ...(username === undefined && secret !== undefined && { token: secret }),
      timeout: ANSWER_MS,
      pingInterval: ANSWER_MS,
      maxPingOut: 2,
      maxReconnectAttempts: -1,
      reconnectTimeWait: RETRY_MS,
      ignoreClusterUpdates: true,
    };
  }

  #up(): void {
    this.#isUp = true;
    if (!this.#isClosed) this.#events.up();
  }

  #down(why: string): void {
    this.#isUp = false;
    if (!this.#isClosed) this.#events.down(printable(why));
  }
}
