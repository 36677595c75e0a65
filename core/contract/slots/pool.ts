import type { Endpoint } from "../endpoint.ts";
import type { RouterError } from "../errors.ts";
import type { RequestRun } from "./request-run.ts";

/**
 * Which pool serves the request? `choosePool` is called when its body has been parsed, before any feature admits it. `fallBack` is called
 * for one that its pool can't serve, while nothing of a response has been sent: it returns whether the request now goes to another pool.
 * `why` is the error that the client would get, or the status (429, 503) with which a replica refused it. Only features of the router's
 * own fill this slot: they set the run's pool and its config.
 *
 * It is a slot of its own because what admits a request may be another feature in each pool.
 *
 * @example
 * choosePool: () => {},
 * fallBack: () => false
 */
export interface PoolSlot {
  choosePool?(run: RequestRun): void;
  fallBack?(run: RequestRun, why: RouterError | number): boolean;
  /** The endpoints of pools beside the router's own. */
  endpointsElsewhere?(): readonly Endpoint[];
}
