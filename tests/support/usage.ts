import { type ResourceUsage, resourceUsage } from "../../core/runtime/work-time.ts";

/** What a process has used when it computed so long, and waited so often of itself and for a processor. */
export function usageOf(cpuMs: number, waits: number, preemptions: number): ResourceUsage {
  const switches = { voluntaryContextSwitches: waits, involuntaryContextSwitches: preemptions };
  return { ...resourceUsage(), userCPUTime: cpuMs * 1000, systemCPUTime: 0, ...switches };
}
