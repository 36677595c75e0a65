import type { Endpoint } from "../endpoint.ts";
import type { RequestRun } from "./request-run.ts";

/**
 * Did a replica die of this request? Called when a replica that had got it, at `sentAtMs` on the router's clock, ended its connection
 * before the first token, or is known to have gone. `run.body` is gone too if `freesBody` was called before. A replica that has died shows
 * that to `replicaGone`, before this or after it. What they throw is logged.
 *
 * It is a slot of its own, with one feature that comes with the router, because `settled` comes after the tries that follow: by then the
 * request may have cost the next replica its life.
 *
 * @example
 * lost: (run, endpoint) => host.log.warn("A request was lost", { id: run.ticket.id, endpoint: endpoint.name })
 */
export interface LostSlot {
  lost?(run: RequestRun, endpoint: Endpoint, sentAtMs: number): void;
  /** The body's memory may be given back before the first token: what `lost` needs of it is taken now. */
  freesBody?(run: RequestRun): void;
}
