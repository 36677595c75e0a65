import type { WireServer } from "../../../core/server/server.ts";
import type { EppServer } from "../../epp/epp-server.ts";

/** What listens for requests. That of the endpoint picker has no TLS, and always takes connections. */
export type FrontServer = EppServer & Partial<WireServer>;
