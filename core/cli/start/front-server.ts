import type { WireServer } from "../../server/server.ts";

/** What listens for requests. Without the last three there is no TLS, and connections are always taken. */
export type FrontServer = Pick<WireServer, "host" | "port" | "connections" | "useLimits" | "drain"> &
  Partial<Pick<WireServer, "pauses" | "useTls" | "handshakeFailures">>;
