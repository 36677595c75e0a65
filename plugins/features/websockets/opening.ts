import type { Head } from "../../../core/wire/head.ts";
import { acceptFor } from "../../../core/wire/websocket/accept.ts";
import { isKey, offeredProtocols } from "../../../core/wire/websocket/protocols.ts";
import { asksForWebSocket, keyOf, VERSION } from "./handshake.ts";

/** Lines that are of requests with a body, or that the router writes for its own requests. */
const OF_OTHERS = /^(?:content-length|content-type|accept-encoding):.*\r\n/gim;

/** What one client asks for in its handshake, and how the same is asked of replicas. */
export class Opening {
  /** What the client's own answer has. */
  readonly accept: string;
  readonly #key: string;
  readonly #protocols: readonly string[];
  /** The router answers the client before a replica is asked, so that one can't agree to anything else. */
  readonly #isAnswered: boolean;

  constructor(head: Head, isAnswered: boolean) {
    this.#key = keyOf(head);
    this.accept = acceptFor(this.#key);
    this.#isAnswered = isAnswered;
    // Where the router answers, it agrees to the first one, because browsers fail without.
    const offered = offeredProtocols(head);
    this.#protocols = isAnswered ? offered.slice(0, 1) : offered;
  }

  /** The line with what is offered to replicas, or, where the router answers, agreed to; "" for nothing. */
  get protocolLine(): string {
    return this.#protocols.length === 0 ? "" : `Sec-WebSocket-Protocol: ${this.#protocols.join(", ")}\r\n`;
  }

  /** The request's head as a replica gets it. No extension is asked for: messages are read on their way. */
  headFor(head: string): string {
    const asked = `GET ${head.slice(head.indexOf(" ") + 1, -2).replace(OF_OTHERS, "")}`;
    const own = `Sec-WebSocket-Version: ${VERSION}\r\nSec-WebSocket-Key: ${this.#key}\r\n`;
    return `${asked}Connection: Upgrade\r\nUpgrade: websocket\r\n${own}${this.protocolLine}\r\n`;
  }

  /** Whether this is a replica's answer to it. */
  accepts(head: Head): boolean {
    if (!asksForWebSocket(head) || head.get("sec-websocket-accept") !== this.accept) return false;
    if (head.get("sec-websocket-extensions") !== undefined) return false;
    const agreed = head.get("sec-websocket-protocol") ?? "";
    return this.#isAnswered ? agreed === "" || agreed === this.#protocols[0] : !isKey(agreed);
  }
}

/** What servers of this API say first: some clients wait for it before they name the model. */
export function sessionCreated(requestId: string, wallMs: number): string {
  const id = `sess-${requestId}`;
  const session = { id, object: "realtime.session" };
  return JSON.stringify({
    type: "session.created",
    event_id: `event-${requestId}`,
    id,
    created: Math.floor(wallMs / 1000),
    session,
  });
}
