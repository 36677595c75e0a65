import type { RequestRun } from "./request-run.ts";

/**
 * May this client ask at all? Called when a request's head has come, before its body is kept. Not for `/health`, `/ready` and browsers'
 * preflights. Throws a RouterError to refuse the request, or returns a promise that rejects with one: then the body waits for it.
 *
 * @example
 * enter: (run) => {
 *   if (run.head.get("x-tier") !== "gold") throw new RouterError("model_not_allowed", "Send x-tier: gold.");
 * }
 */
export interface EnterSlot {
  enter?(run: RequestRun): Promise<void> | undefined;
}
