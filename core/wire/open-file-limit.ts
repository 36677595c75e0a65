import { readFileSync } from "node:fs";

/**
 * The admin port's own share: a scraper and some open pages. However full the data port is, it has descriptors for them; more
 * is a mistake or an attack.
 */
export const ADMIN_CONNECTIONS = 32;

/** Descriptors left for everything that is not a client or its replica: the admin port, probes, files, the runtime itself. */
const RESERVED = ADMIN_CONNECTIONS + 64;

/**
 * How many clients this process has file descriptors for: each needs one for itself and one for its replica. Infinity if the limit
 * can't be read. The server accepts no more than that, because a process without descriptors can neither connect nor accept.
 */
export function affordableClients(): number {
  try {
    return affordable(readFileSync("/proc/self/limits", "latin1"));
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** The same, for the text of Linux's `/proc/self/limits`. */
export function affordable(limits: string): number {
  const soft = /^Max open files +(\d+) /m.exec(limits)?.[1];
  return soft === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor((Number(soft) - RESERVED) / 2));
}
