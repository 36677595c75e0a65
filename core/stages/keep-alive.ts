import type { Incoming } from "../intake/incoming.ts";
import type { ResponseWriter } from "../intake/response-writer.ts";
import type { Settings } from "../settings.ts";
import type { EventBoundary } from "../stream/event-boundary.ts";
import { keepAliveEvent } from "../stream/keep-alive-event.ts";
import type { Deadlines, Timed } from "../wire/deadlines.ts";

/** What is sent into a silent event stream, and after how much silence. */
export interface KeepAliveRule {
  readonly event: Uint8Array;
  readonly periodMs: number;
}

/** The rule for a request's path; undefined if its streams get nothing. */
export function keepAliveRule({ path, parser }: Incoming, { keepAlive }: Settings): KeepAliveRule | undefined {
  if (keepAlive === undefined || !keepAlive.paths.includes(path)) return undefined;
  return { event: keepAliveEvent(parser.plugin.dialect), periodMs: keepAlive.periodMs };
}

/** Writes an event that means nothing to the client whenever the replica was silent for a period, but only between two events. */
export class KeepAlive implements Timed {
  readonly #rule: KeepAliveRule;
  readonly #deadlines: Deadlines;
  readonly #boundary: EventBoundary;
  readonly #response: ResponseWriter;
  #dueMs = 0;
  #isPaused = false;

  /** `deadlines` is the one timer of all streams. Its first period begins now. */
  constructor(rule: KeepAliveRule, deadlines: Deadlines, boundary: EventBoundary, response: ResponseWriter) {
    this.#rule = rule;
    this.#deadlines = deadlines;
    this.#boundary = boundary;
    this.#response = response;
    this.restart();
    deadlines.add(this);
  }

  /** Another period begins. */
  restart(): void {
    this.#dueMs = this.#deadlines.nowMs + this.#rule.periodMs;
  }

  /** The client can't take more bytes now, so it gets none. */
  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.restart();
  }

  sweep(nowMs: number): void {
    if (nowMs < this.#dueMs || this.#isPaused || !this.#boundary.isBetween()) return;
    const { event } = this.#rule;
    this.restart();
    if (!this.#response.write(event, [0, event.length], 1, false)) this.pause();
    this.#response.flush();
  }

  close(): void {
    this.#deadlines.delete(this);
  }
}
