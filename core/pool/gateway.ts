import type { Leg } from "../contract/decision.ts";
import type { Draft } from "../contract/draft.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { RequestRun } from "../contract/slots/request-run.ts";
import type { ForwardOwner, Sending } from "../contract/slots/send.ts";
import type { Facts } from "../state/facts.ts";
import type { ResponseReader } from "../wire/response-reader.ts";
import type { ReadConnection } from "./connections.ts";

/** A request as the gateway is to send it on, and who reads the response. */
export interface Picked {
  /** Where it is to go: the first of them that the gateway reaches. */
  readonly order: readonly Endpoint[];
  /** A request's head as the router would send it to the first one. */
  readonly head: string;
  readonly body: readonly Uint8Array[];
  /** Where it is booked; another one after `served`. */
  readonly endpoint: Endpoint;
  /** Reads the response; another one after `served`. */
  readonly reader: ResponseReader;
  /** The gateway says at which address ("host:port") the request was served, or could not be; before the response's head. */
  served(address: string): void;
  /** The gateway responds itself, and does not say that a replica is the cause: it has sent the request to none. */
  unserved(): void;
  /** The response's head has come, and the gateway shows no more of it. */
  unread(): void;
}

/** A proxy in front that sends a request itself, to an endpoint that the router picks. It can be told of one choice, once. */
export interface Gateway extends ReadConnection {
  /** The facts without the endpoints that it can't, or may not, send this request to. Throws RouterError if none is left. */
  reachable(facts: Facts): Facts;
  /** The body that it will be told to send is not the one that it has. */
  bodyChanged(): void;
  /** Takes the place of Forward. */
  handOver(run: RequestRun, leg: Leg, draft: Draft, owner: ForwardOwner): Sending;
  pass(picked: Picked): void;
}

/** An endpoint's address as gateways name it: "host:port", an IPv6 address in brackets. */
export function addressOf({ url: { hostname, port } }: Endpoint): string {
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}
