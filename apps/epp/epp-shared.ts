import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { RequestStarter } from "../../core/host/request-starter.ts";
import type { Limits } from "../../core/settings.ts";
import type { Deadlines } from "../../core/wire/deadlines.ts";
import type { TryWatch } from "../../core/wire/watched-try.ts";

/** The router that decides about a gateway's requests. */
export interface EppRouter {
  readonly start: RequestStarter;
  nextRequestId(): string;
  watchOf(endpoint: Endpoint): TryWatch;
}

/** What the exchanges of one server share. */
export interface EppShared extends EppRouter {
  readonly limits: Limits;
  readonly deadlines: Deadlines;
  /** Requests under way. */
  readonly open: Set<{ stop(): void }>;
}
