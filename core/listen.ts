import type { Clock } from "./contract/clock.ts";
import type { Log } from "./contract/log.ts";
import { respondWithError } from "./errors/error-response.ts";
import type { Router } from "./router.ts";
import type { ListenAddress } from "./router-config.ts";
import { startWireServer, type WireServer } from "./server/server.ts";
import { corsLines } from "./wire/cors.ts";

/** The server through which clients reach a router. Rejects with what the system says of the address. */
export function listenOn(address: ListenAddress, router: Router, clock: Clock, log: Log): Promise<WireServer> {
  return startWireServer({
    ...address,
    limits: router.config.settings.limits,
    clock,
    memory: router.gate.memory,
    log,
    start: router.start,
    refuse(response, error) {
      const cors = corsLines(undefined, router.config.settings.cors);
      respondWithError(response, error, "openai", router.identity.nextRequestId(), cors);
    },
  });
}
