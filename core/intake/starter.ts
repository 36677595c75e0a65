import type { RequestStarter } from "../host/request-receiver.ts";
import type { RouterParts } from "../router-parts.ts";
import { type AdapterChanges, AdapterRoutes } from "./adapter-routes.ts";
import { Intake } from "./intake.ts";

/** Starts requests on a router. Each ends exactly once, with one ticket. Without `adapters`, clients can change none. */
export function intake(parts: RouterParts, adapters?: AdapterChanges): RequestStarter {
  const adapterRoutes = adapters && new AdapterRoutes(adapters, parts.services.log);
  return (head, bodyLength, response, peer) => {
    const taken = new Intake(parts, adapterRoutes, head, response, peer);
    taken.begin(bodyLength);
    return taken;
  };
}
