import type { Clock } from "../../../core/contract/clock.ts";
import type { Dialect } from "../../../core/contract/errors.ts";
import type { Tap, TappedResponse } from "../../../core/contract/slots/tap.ts";
import { Deadlines, sweepPeriodMs, type Timed } from "../../../core/wire/deadlines.ts";
import type { KeepAliveSettings } from "./keep-alive-config.ts";

const UTF8 = new TextEncoder();
/** A comment (HTML standard, 9.2.6): every reader of event streams skips it. */
const COMMENT = UTF8.encode(": keep-alive\n\n");
/** What Anthropic's API itself sends into silent streams. */
const PING = UTF8.encode('event: ping\ndata: {"type":"ping"}\n\n');

/** An event without meaning, which may stand between any two events of an API's streams. */
const eventOf = (dialect: Dialect) => (dialect === "anthropic" ? PING : COMMENT);

/** What is sent into a silent event stream, and after how much silence. */
interface KeepAliveRule {
  readonly event: Uint8Array;
  readonly periodMs: number;
}

/** The streams that are kept alive, with their one timer. */
export class KeepAlives {
  readonly #clock: Clock;
  /** Undefined if no config has wanted any. */
  #deadlines: Deadlines | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Without the section the timer stays: streams that began with it go on getting events. */
  use(settings: KeepAliveSettings | undefined): void {
    if (settings === undefined) return;
    const periodMs = sweepPeriodMs([settings.periodMs]);
    this.#deadlines ??= new Deadlines(this.#clock, periodMs);
    this.#deadlines.retime(periodMs);
  }

  /** Undefined for what is no event stream, or is of another path. A body of a declared length has no room for more. */
  keep(path: string, dialect: Dialect, settings: KeepAliveSettings, response: TappedResponse): Tap | undefined {
    if (this.#deadlines === undefined || !response.isEventStream || response.length >= 0 || !settings.paths.includes(path))
      return undefined;
    return new KeepAlive({ event: eventOf(dialect), periodMs: settings.periodMs }, this.#deadlines, response);
  }

  close(): void {
    this.#deadlines?.close();
  }
}

/** Writes an event without meaning to the client when the replica was silent for a period, but only between two events. */
class KeepAlive implements Tap, Timed {
  readonly #rule: KeepAliveRule;
  readonly #deadlines: Deadlines;
  readonly #response: TappedResponse;
  #dueMs = 0;
  #isPaused = false;

  /** Its first period begins now. */
  constructor(rule: KeepAliveRule, deadlines: Deadlines, response: TappedResponse) {
    this.#rule = rule;
    this.#deadlines = deadlines;
    this.#response = response;
    this.read();
    deadlines.add(this);
  }

  /** The replica is not silent. */
  read(): void {
    this.#dueMs = this.#deadlines.nowMs + this.#rule.periodMs;
  }

  paused(): void {
    this.#isPaused = true;
  }

  resumed(): void {
    this.#isPaused = false;
    this.read();
  }

  sweep(nowMs: number): void {
    if (nowMs < this.#dueMs || this.#isPaused || !this.#response.isBetweenEvents) return;
    const { event } = this.#rule;
    this.read();
    if (!this.#response.insert(event)) this.paused();
  }

  end(): void {
    this.#deadlines.delete(this);
  }
}
