import { systemClock } from "./contract/clock.ts";
import { silentLog } from "./contract/log.ts";
import { type CoreOptions, corePlan } from "./core-plan.ts";
import { needWebStreams } from "./fetch/web-streams.ts";
import { fetchFace } from "./fetch-face.ts";
import { listenOn } from "./listen.ts";
import type { Address } from "./router-config.ts";
import { runRouter } from "./run-router.ts";
import type { WireServer } from "./server/server.ts";
import type { Services } from "./services.ts";

// What programs import as `signalbox/core`: the router without config files, commands, admin port and built-in modules.

export { CoreError, type CoreModule, type CoreOptions } from "./core-plan.ts";

/** What the program gives beside the modules. */
export interface CoreServices extends Partial<Services> {
  /** Called with each line that plugins print. By default they are dropped. */
  readonly print?: (line: string) => void;
}

/** A router that runs. */
export interface Core {
  /** Routes one request. Never rejects: an error becomes a response in the shape of the called API. */
  fetch(request: Request): Promise<Response>;
  /** Serves clients at this address too; resolves to the port, which the system chooses where 0 is asked for. */
  listen(address: Address): Promise<number>;
  /** Resolves to true once an endpoint is ready, or to false when none is after `timeoutMs`. */
  whenReady(timeoutMs: number): Promise<boolean>;
  /** Accepts no more requests, gives those under way on sockets `graceMs` (default 0) to end, then ends everything. */
  close(graceMs?: number): Promise<void>;
}

/** Starts a router with these modules and no others. Rejects with CoreError for what can't run, and with what a module throws. */
export async function createCore(options: CoreOptions & CoreServices): Promise<Core> {
  const { clock = systemClock, random = Math.random, log = silentLog, print = () => {} } = options;
  const plan = corePlan(options);
  await needWebStreams();
  for (const definition of plan.definitions.values()) await definition.load?.();
  const router = runRouter(plan, { clock, random, log, output: { print, isTerminal: false } });
  const face = fetchFace(router, clock);
  const servers: WireServer[] = [];
  return {
    fetch: face.fetch,
    async listen(address) {
      const server = await listenOn({ ...address, isPortShared: false }, router, clock, log);
      servers.push(server);
      return server.port;
    },
    whenReady: router.whenReady,
    async close(graceMs = 0) {
      router.announceStop();
      await Promise.all(servers.map((server) => server.drain(graceMs)));
      face.close();
      router.close();
    },
  };
}
