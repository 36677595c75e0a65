import type { Parser } from "../../contract/parser.ts";
import type { ResponseWriter } from "../../host/response-writer.ts";
import type { Settings } from "../../settings.ts";
import type { WholeEvents } from "../../stream/whole-events.ts";
import type { Deadlines, Timed } from "../../wire/deadlines.ts";
import { keepAliveEvent } from "./keep-alive-event.ts";

/** What is sent into a silent event stream, and after how much silence. */
export interface KeepAliveRule {
  readonly event: Uint8Array;
  readonly periodMs: number;
}

/** Keeps the client's side of this event stream alive; undefined if the config wants nothing of the kind for its path. */
export function keepAliveOf(
  { path, parser }: { readonly path: string; readonly parser: { readonly plugin: Pick<Parser, "dialect"> } },
  { keepAlive }: Settings,
  deadlines: Deadlines | undefined,
  events: WholeEvents,
  response: ResponseWriter,
): KeepAlive | undefined {
  if (deadlines === undefined || keepAlive === undefined || !keepAlive.paths.includes(path)) return undefined;
  const rule = { event: keepAliveEvent(parser.plugin.dialect), periodMs: keepAlive.periodMs };
  return new KeepAlive(rule, deadlines, events, response);
}

/** Writes an event without meaning to the client when the replica was silent for a period, but only between two events. */
export class KeepAlive implements Timed {
  readonly #rule: KeepAliveRule;
  readonly #deadlines: Deadlines;
  readonly #events: WholeEvents;
  readonly #response: ResponseWriter;
  #dueMs = 0;
  #isPaused = false;

  /** `deadlines` is the one timer of all streams. Its first period begins now. */
  constructor(rule: KeepAliveRule, deadlines: Deadlines, events: WholeEvents, response: ResponseWriter) {
    this.#rule = rule;
    this.#deadlines = deadlines;
    this.#events = events;
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
    if (nowMs < this.#dueMs || this.#isPaused || !this.#events.isBetween) return;
    const { event } = this.#rule;
    this.restart();
    if (!this.#response.write(event, [0, event.length], 1, false)) this.pause();
    this.#response.flush();
  }

  close(): void {
    this.#deadlines.delete(this);
  }
}
