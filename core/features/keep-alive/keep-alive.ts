import type { ActiveConfig } from "../../active-config.ts";
import type { Clock } from "../../contract/clock.ts";
import type { Dialect } from "../../contract/errors.ts";
import type { ResponseWriter } from "../../host/response-writer.ts";
import type { WholeEvents } from "../../stream/whole-events.ts";
import { Deadlines, sweepPeriodMs, type Timed } from "../../wire/deadlines.ts";
import type { KeptStream, StreamKeeper, StreamOf } from "../feature.ts";
import { type KeepAliveSettings, keepAliveSection } from "./keep-alive-config.ts";

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
export class KeepAlives implements StreamKeeper {
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

  /** Undefined if the config wants nothing of the kind for its path. */
  keep(
    { path, parser }: StreamOf,
    { features }: Pick<ActiveConfig, "features">,
    events: WholeEvents,
    response: ResponseWriter,
  ): KeptStream | undefined {
    const settings = keepAliveSection.of(features);
    if (this.#deadlines === undefined || settings === undefined || !settings.paths.includes(path)) return undefined;
    const rule = { event: eventOf(parser.plugin.dialect), periodMs: settings.periodMs };
    return new KeepAlive(rule, this.#deadlines, events, response);
  }

  close(): void {
    this.#deadlines?.close();
  }
}

/** Writes an event without meaning to the client when the replica was silent for a period, but only between two events. */
class KeepAlive implements KeptStream, Timed {
  readonly #rule: KeepAliveRule;
  readonly #deadlines: Deadlines;
  readonly #events: WholeEvents;
  readonly #response: ResponseWriter;
  #dueMs = 0;
  #isPaused = false;

  /** Its first period begins now. */
  constructor(rule: KeepAliveRule, deadlines: Deadlines, events: WholeEvents, response: ResponseWriter) {
    this.#rule = rule;
    this.#deadlines = deadlines;
    this.#events = events;
    this.#response = response;
    this.restart();
    deadlines.add(this);
  }

  restart(): void {
    this.#dueMs = this.#deadlines.nowMs + this.#rule.periodMs;
  }

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
