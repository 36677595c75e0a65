import type { RouterError } from "../contract/errors.ts";
import type { Sending } from "../contract/slots/send.ts";
import type { Run } from "../run.ts";

/** Whether a request that its pool can't serve goes to another one now. What was sent of it so far is given up. */
export function fallsBack(run: Run, error: RouterError, forward: Sending | undefined): boolean {
  if (run.parsed === undefined || run.response.hasStarted) return false;
  if (!run.config.slots.fallBack.some(({ plugin }) => plugin.fallBack(run, error))) return false;
  forward?.close();
  return true;
}
