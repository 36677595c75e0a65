import type { ActiveConfig } from "./active-config.ts";
import type { BodyBuffer } from "./body/receive.ts";
import type { ParsedBody } from "./contract/request.ts";
import type { ResponseWriter } from "./host/response-writer.ts";
import type { Incoming } from "./request/incoming.ts";
import type { Ticket } from "./request/ticket.ts";
import type { RouterParts } from "./router-parts.ts";

/** One request on its way: what the stages read, and the ticket that they fill in. */
export interface Run {
  readonly ticket: Ticket;
  readonly incoming: Incoming;
  /** Set once the body has been parsed. */
  parsed: ParsedBody | undefined;
  /** What keeps the body in memory. */
  readonly buffer: Pick<BodyBuffer, "hold" | "frontBytes">;
  /** The config that was active when its head came. */
  readonly config: ActiveConfig;
  readonly parts: RouterParts;
  readonly response: ResponseWriter;
}
