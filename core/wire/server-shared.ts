import type { Clock } from "../contract/clock.ts";
import type { RouterError } from "../contract/errors.ts";
import type { RequestStarter } from "../intake/request-receiver.ts";
import type { ResponseWriter } from "../intake/response-writer.ts";
import type { Limits } from "../settings.ts";
import type { ClientCounts } from "./client-counts.ts";
import type { Deadlines } from "./deadlines.ts";
import type { ServerConnection } from "./server-connection.ts";
import type { UnreadCounter } from "./write-progress.ts";

/** What all connections of one server share, as it is now. */
export interface ServerShared {
  readonly limits: Limits;
  readonly clock: Clock;
  /** Connections of each client address. */
  readonly clients: ClientCounts;
  readonly memory: UnreadCounter;
  readonly deadlines: Deadlines;
  /** The connection is closed. */
  readonly ended: (connection: ServerConnection) => void;
  readonly isDraining: boolean;
  readonly start: RequestStarter;
  /** See WireServerOptions. */
  readonly refuse: (response: ResponseWriter, error: RouterError) => void;
}
