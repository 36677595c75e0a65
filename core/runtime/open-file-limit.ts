import { textOf } from "./read-text.ts";

/**
 * The admin port's own share: a scraper and some open pages. However full the data port is, it has descriptors for them; more
 * is a mistake or an attack.
 */
export const ADMIN_CONNECTIONS = 32;

/** Descriptors left for everything that is not a client or its replica: the admin port, probes, files, the runtime itself. */
const RESERVED = ADMIN_CONNECTIONS + 64;

/** Of each so many clients that could be served, one place goes to those that wait. */
const WAITING_SHARE = 8;
const MOST_WAITING = 1024;

/** Clients that may have a connection at the same time. */
export interface AffordableClients {
  /** Each needs a descriptor for itself and one for its replica. */
  readonly served: number;
  /** Beyond those; they are not read, so each needs only its own. */
  readonly waiting: number;
}

/**
 * How many clients this process has file descriptors for; as many as ask if the limit can't be read. The server serves no more than
 * that, because a process without descriptors can neither connect nor accept.
 */
export function affordableClients(soft = openFileLimit()): AffordableClients {
  if (Number.isNaN(soft)) return { served: Number.POSITIVE_INFINITY, waiting: MOST_WAITING };
  const pairs = Math.max(1, Math.floor((soft - RESERVED) / 2));
  const waiting = Math.min(MOST_WAITING, Math.floor(pairs / WAITING_SHARE));
  return { served: pairs - Math.ceil(waiting / 2), waiting };
}

/** The soft limit, from the text of Linux's `/proc/self/limits`; NaN if there is none. */
export function openFileLimit(limits: string = textOf("/proc/self/limits")): number {
  return Number(/^Max open files +(\d+) /m.exec(limits)?.[1] ?? Number.NaN);
}
