import { readFileSync } from "node:fs";

/**
 * The admin port's own share: a scraper and some open pages. However full the data port is, it has descriptors for them; more
 * is a mistake or an attack.
 */
export const ADMIN_CONNECTIONS = 32;

/** Descriptors left for everything that is not a client or its replica: the admin port, probes, files, the runtime itself. */
const RESERVED = ADMIN_CONNECTIONS + 64;

/**
 * How many clients this process can serve at once, since each needs a descriptor for itself and one for its replica. Running
 * out of them must not happen: Deno never accepts a connection again after an accept that failed. Infinity where the limit
 * can't be read.
 */
export function affordableClients(): number {
  try {
    return affordable(readFileSync("/proc/self/limits", "latin1"));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** What Linux's list of a process's limits allows. */
export function affordable(limits: string): number {
  const soft = /^Max open files +(\d+) /m.exec(limits)?.[1];
  return soft === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor((Number(soft) - RESERVED) / 2));
}
