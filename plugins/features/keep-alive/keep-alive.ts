import type { Clock } from "../../../core/contract/clock.ts";
import type { Dialect } from "../../../core/contract/errors.ts";
import type { Outcome } from "../../../core/contract/outcome.ts";
import type { WaitOwner } from "../../../core/contract/slots/admit.ts";
import type { Tap, TappedResponse } from "../../../core/contract/slots/tap.ts";
import type { Run } from "../../../core/run.ts";
import { Deadlines, sweepPeriodMs, type Timed } from "../../../core/wire/deadlines.ts";
import { EarlyHead } from "./early-head.ts";
import type { KeepAliveSettings } from "./keep-alive-config.ts";
import { eventOf } from "./keep-alive-events.ts";

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
  /** Of requests under way, by their tickets. */
  readonly #earlyHeads = new WeakMap<Outcome, EarlyHead>();
  /** Those that have ended, and whose clients got a head before there was a response. */
  readonly #wereEarly = new WeakSet<Outcome>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Without the section the timer stays: streams that began with it go on getting events. */
  use(settings: KeepAliveSettings | undefined): void {
    if (settings === undefined) return;
    const { periodMs: silenceMs, beforeHeadMs } = settings;
    const periodMs = sweepPeriodMs(beforeHeadMs > 0 ? [silenceMs, beforeHeadMs] : [silenceMs]);
    this.#deadlines ??= new Deadlines(this.#clock, periodMs);
    this.#deadlines.retime(periodMs);
  }

  /** Undefined for what is no event stream, or is of another path. A body of a declared length has no room for more. */
  keep(path: string, dialect: Dialect, settings: KeepAliveSettings, response: TappedResponse): Tap | undefined {
    if (this.#deadlines === undefined || !response.isEventStream || response.length >= 0 || !settings.paths.includes(path))
      return undefined;
    return new KeepAlive({ event: eventOf(dialect), periodMs: settings.periodMs }, this.#deadlines, response);
  }

  /** From now on its client does not wait for a head longer than the settings say, if it may get one before there is a response. */
  waitFor(run: Run, owner: WaitOwner, settings: KeepAliveSettings): void {
    if (this.#deadlines === undefined || !settings.paths.includes(run.ticket.path) || !takesEarlyHead(run)) return;
    const early = new EarlyHead(run, owner, settings, this.#deadlines);
    this.#earlyHeads.set(run.ticket, early);
    run.response = early;
  }

  settled(outcome: Outcome): void {
    const early = this.#earlyHeads.get(outcome);
    if (early === undefined) return;
    early.close();
    if (early.isSent) this.#wereEarly.add(outcome);
    // Observers may keep the ticket, and it must not keep the request's body.
    this.#earlyHeads.delete(outcome);
  }

  /** Of a request that has ended: whether its client got a head before there was a response. */
  wasEarly(outcome: Outcome): boolean {
    return this.#wereEarly.has(outcome);
  }

  close(): void {
    this.#deadlines?.close();
  }
}

/**
 * Whether the request asks for a stream of server-sent events, which begins alike whoever answers. A gateway writes heads itself, and
 * HTTP/1.0 knows no end of a body but that of the connection, which would make every error look like a whole answer.
 */
function takesEarlyHead({ parsed, parser, ticket, head, response }: Run): boolean {
  if (parsed?.isStream !== true || head.minor === 0 || response.gateway !== undefined) return false;
  return parser?.plugin.responses?.[ticket.path]?.events !== undefined;
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
