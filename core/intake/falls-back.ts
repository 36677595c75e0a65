import type { RouterError } from "../contract/errors.ts";
import type { Sending } from "../contract/slots/send.ts";
import type { Run } from "../run.ts";

/** Whether a request that its pool can't serve goes to another one now. What was sent of it so far is given up. `why`: see PoolSlot. */
export function fallsBack(run: Run, why: RouterError | number, forward: Sending | undefined): boolean {
  if (run.parsed === undefined || run.response.hasStarted) return false;
  if (!run.config.slots.fallBack.some(({ plugin }) => plugin.fallBack(run, why))) return false;
  const isBodyFree = forward?.close(typeof why === "number" ? why : undefined) ?? true;
  run.buffer?.hold().giveBack(isBodyFree);
  return true;
}
