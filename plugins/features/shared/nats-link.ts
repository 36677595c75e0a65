import type { NatsConnection } from "@nats-io/transport-node";
import { parseEndpointUrl } from "../../../core/contract/endpoint-url.ts";
import { printable } from "../../../core/contract/printable.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import type { Link, LinkEvents } from "../../../core/pool/carrier.ts";
import type { Services } from "../../../core/services.ts";
import { openSocket } from "../../../core/wire/open-socket.ts";
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
  return { text: place.url, open: (channel, events, services) => new NatsLink(place, channel, events, services) };
}

const DEFAULT_PORT = 4222;

class NatsLink implements Link {
  readonly #place: StorePlace;
  readonly #subject: string;
  readonly #events: LinkEvents;
  readonly #services: Services;
  #hasToldTooLong = false;
  #connection: NatsConnection | undefined;
  #isUp = false;
  #isClosed = false;
  #cancelRetry: () => void = () => {};

  constructor(place: StorePlace, channel: string, events: LinkEvents, services: Services) {
    this.#place = place;
    // Dots would make levels of it.
    this.#subject = channel.replaceAll(":", ".");
    this.#events = events;
    this.#services = services;
    void this.#connect();
  }

  publish(message: string): void {
    if (!this.#isUp) return;
    try {
      this.#connection?.publish(this.#subject, message);
    } catch (thrown) {
      // Whether the connection is gone its own status says.
      this.#events.lost();
      this.#tooLong(message.length, thrownMessage(thrown));
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
    const cancel = this.#services.clock.after(ANSWER_MS, closeNow);
    void connection.drain().catch(closeNow).finally(cancel);
  }

  #tooLong(chars: number, cause: string): void {
    const most = this.#connection?.info?.max_payload ?? Number.POSITIVE_INFINITY;
    if (this.#hasToldTooLong || chars <= most) return;
    this.#hasToldTooLong = true;
    this.#services.log.warn("The NATS server takes no messages as long as routers have for each other: raise its max_payload", {
      ...{ chars, maxPayload: most, cause },
    });
  }

  async #connect(): Promise<void> {
    if (client === undefined) throw new Error(`${PACKAGE} is not loaded`);
    try {
      await greeting(this.#place.url);
      if (this.#isClosed) return;
      const connection = await client.connect(this.#options());
      this.#connection = connection;
      if (this.#isClosed) return void (await connection.close());
      connection.subscribe(this.#subject, {
        callback: (error, message) => {
          if (error === null && !this.#isClosed) this.#events.received(message.string());
        },
      });
      this.#up();
      const closed = await connection.closed();
      this.#down(closed === undefined ? "the connection was closed" : closed.message);
    } catch (thrown) {
      this.#down(thrownMessage(thrown));
    }
    if (!this.#isClosed) this.#cancelRetry = this.#services.clock.after(RETRY_MS, () => void this.#connect());
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
      // The link makes the next connection itself, see greeting.
      reconnect: false,
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

/**
 * Waits until the server says its first words. The client leaves open each connection to a server that takes it and says nothing, one for
 * each try, so it is only called for one that speaks. Rejects with an Error when there is none.
 */
function greeting(url: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const address = parseEndpointUrl(`http://${hostname}:${Number(port) || DEFAULT_PORT}`);
  return new Promise((resolve, reject) => {
    const end = (error?: Error) => {
      socket.destroy();
      if (error === undefined) resolve();
      else reject(error);
    };
    const socket = openSocket(
      address,
      () => {},
      () => end(),
    );
    socket.setTimeout(ANSWER_MS, () => end(new Error("the server says nothing")));
    socket.on("error", end);
    socket.once("close", () => reject(new Error("the connection was closed")));
  });
}
