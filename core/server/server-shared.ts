import type { Clock } from "../contract/clock.ts";
import type { RouterError } from "../contract/errors.ts";
import type { RequestStarter } from "../host/request-starter.ts";
import type { ResponseWriter } from "../host/response-writer.ts";
import type { Limits } from "../settings.ts";
import type { ClientCounts } from "../wire/client-counts.ts";
import type { Deadlines } from "../wire/deadlines.ts";
import type { UnreadCounter } from "../wire/write-progress.ts";
import type { ConnectionState } from "./connection-state.ts";

/** A connection as its server sees it. */
export interface OpenConnection {
  /** The server stops: an idle connection gets a last chance, a busy one closes after its response. */
  beginDrain(): void;
  readonly state: ConnectionState;
  /** The client's address. */
  readonly peer: string;
  /** Ends whatever is under way; a started response is not ended cleanly. */
  cut(): void;
}

/** What a server is given for all of its connections. */
export interface ServerParts {
  readonly limits: Limits;
  readonly clock: Clock;
  /** Is told how many bytes of responses wait for their clients. */
  readonly memory: UnreadCounter;
  readonly start: RequestStarter;
  /** Responds to a head that is broken or took too long. It has no path, so no API that would decide the error's shape. */
  readonly refuse: (response: ResponseWriter, error: RouterError) => void;
}

/** What all connections of one server share, as it is now. */
export interface ServerShared extends ServerParts {
  /** Connections of each client address. */
  readonly clients: ClientCounts;
  readonly deadlines: Deadlines;
  /** The connection is closed. */
  readonly ended: (connection: OpenConnection) => void;
  readonly isDraining: boolean;
}
