import type { Decision } from "../decision.ts";
import type { InferenceRequest } from "../request.ts";
import type { RequestRun } from "./request-run.ts";

/**
 * Is a copy of the request sent elsewhere? Called when the request has been sent. `choose` decides for a copy as for a request. It never
 * waits; what it throws is reported and changes nothing.
 *
 * It is a slot of its own because a copy needs the body after the request itself has got its place and before the body is freed: neither
 * `compare` nor `settled` is called then. For the same reason `kv-events` asks here for the prompt's tokens.
 *
 * @example
 * copy: (_run, request, choose) => void choose({ ...request, target: "fast-v2" })
 */
export interface CopySlot {
  copy?(run: RequestRun, request: InferenceRequest, choose: (copy: InferenceRequest) => Decision): void;
}
