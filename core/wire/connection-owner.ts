import type { Socket } from "node:net";
import type { Limits } from "../settings.ts";
import type { Deadlines } from "./deadlines.ts";
import type { IdleHabit } from "./idle-habit.ts";

/** What a connection needs from the pool it belongs to. */
export interface ConnectionOwner<Connection> {
  readonly limits: Limits;
  readonly deadlines: Deadlines;
  /** When the replica was declared gone, on the deadlines' clock; Infinity while it is not. */
  readonly goneSinceMs: number;
  /** When the replica ends idle connections. */
  readonly idleHabit: IdleHabit;
  /** Starts a connection to the replica; see openSocket. */
  open(opened: () => void, read: (chunk: Buffer) => void, unwritable: () => void): Socket;
  /** Bytes of a response that has tokens came, at that time of the clock. */
  heard(atMs: number): void;
  /** Bytes came that belong to no request. */
  unasked(): void;
  /** The socket broke. */
  broken(error: Error): void;
  /** The connection may carry another request. */
  idle(connection: Connection): void;
  closed(connection: Connection): void;
}
