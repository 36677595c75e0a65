import type { Log } from "../../../core/contract/log.ts";
import { isLoopback } from "./ports.ts";

const ADAPTERS_OPEN =
  "Everyone who reaches this port can unload adapters, and have replicas load some from any path, where the engines allow it; ask for keys (spec.auth), or forbid it (spec.pool.adapters.byClients: false)";

/** Says at the start what everybody can do at a port for clients that other machines reach. */
export function warnOfOpenPort(host: string, adaptersByClients: boolean, asksForKeys: boolean, log: Log): void {
  if (adaptersByClients && !asksForKeys && !isLoopback(host)) log.warn(ADAPTERS_OPEN, { host });
}
