import type { Secret } from "../../../core/contract/secret.ts";
import type { Link, LinkEvents } from "../../../core/pool/carrier.ts";
import type { Services } from "../../../core/services.ts";

/** A store that routers exchange messages by. */
export interface Store {
  /** For people: without what is secret. */
  readonly text: string;
  open(channel: string, events: LinkEvents, services: Services): Link;
}

/** Where a store is, and who the router is there. */
export interface StorePlace {
  readonly url: string;
  readonly username: string | undefined;
  readonly password: Secret | undefined;
}

/** A longer message is neither sent nor read. */
export const MOST_MESSAGE_CHARS = 1_000_000;
/** How long a store that does not answer is waited for. */
export const ANSWER_MS = 2_000;
/** How long after a failure the next try is made. */
export const RETRY_MS = 500;
/** So many messages may be on their way into the store; further ones are lost. */
export const MOST_UNANSWERED = 64;
