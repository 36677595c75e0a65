import process from "node:process";

export type ResourceUsage = ReturnType<typeof process.resourceUsage>;

export const resourceUsage = (): ResourceUsage => process.resourceUsage();

/**
 * How long synchronous work took that lasted `wallMs`, without its waits for a processor of a busy machine: the time that it computed;
 * where it waited of itself (it read a file, say), all of it. Other threads of the process compute and wait too, so `wallMs` is the most,
 * and who lost a processor is not said to have waited of itself.
 */
export function workMs(wallMs: number, from: ResourceUsage, to: ResourceUsage): number {
  const hasWaited = to.voluntaryContextSwitches > from.voluntaryContextSwitches;
  if (hasWaited && to.involuntaryContextSwitches === from.involuntaryContextSwitches) return wallMs;
  return Math.min(wallMs, (to.userCPUTime + to.systemCPUTime - from.userCPUTime - from.systemCPUTime) / 1000);
}
