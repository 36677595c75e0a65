import type { Endpoint } from "../contract/endpoint.ts";
import type { RequestStarter } from "../host/request-receiver.ts";
import type { TryWatch } from "../pool/gateway.ts";
import type { Limits } from "../settings.ts";
import type { Deadlines } from "../wire/deadlines.ts";

/** What the exchanges of one server share. */
export interface EppShared {
  readonly start: RequestStarter;
  nextRequestId(): string;
  watchOf(endpoint: Endpoint): TryWatch;
  readonly limits: Limits;
  readonly deadlines: Deadlines;
  /** Requests under way. */
  readonly open: Set<{ stop(): void }>;
}
