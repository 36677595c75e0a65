import type { Clock } from "../../contract/clock.ts";
import type { Log } from "../../contract/log.ts";
import type { Router } from "../../router.ts";
import type { WireServer } from "../../server/server.ts";
import type { Limits } from "../../settings.ts";

interface Stopped {
  readonly router: Pick<Router, "announceStop">;
  readonly server: Pick<WireServer, "connections" | "drain">;
  readonly limits: Pick<Limits, "settleMs" | "drainTimeoutMs">;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Says on `/ready` at once that the router stops, serves everything for the settle time, so that load balancers notice, then stops
 * accepting. Resolves when the last connection is closed.
 */
export async function stopServing({ router, server, limits, clock, log }: Stopped): Promise<void> {
  router.announceStop();
  if (limits.settleMs > 0) {
    log.info("Stopping: /ready says 503, everything is still served for the settle time", { settleMs: limits.settleMs });
    await new Promise<void>((resolve) => clock.after(limits.settleMs, resolve));
  }
  log.info("Stopping: waiting for requests in progress", { connections: server.connections });
  await server.drain(limits.drainTimeoutMs);
}
