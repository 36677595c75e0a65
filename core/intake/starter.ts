import type { RequestStarter } from "../host/request-starter.ts";
import type { RouterParts } from "../router-parts.ts";
import { Intake } from "./intake.ts";

/** Starts requests on a router. Each ends exactly once, with one ticket. */
export function intake(parts: RouterParts): RequestStarter {
  return (head, bodyLength, response, peer) => new Intake(parts, head, response, peer).begin(bodyLength);
}
