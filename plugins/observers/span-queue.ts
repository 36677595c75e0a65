import type { Clock } from "../../core/contract/clock.ts";
import type { Log } from "../../core/contract/log.ts";
import type { Span, SpanExporter } from "./otlp-exporter.ts";

/** Turning this many spans into JSON takes about a millisecond, in which no request goes on. */
const BATCH = 128;
/** Losses are logged at the first one, and then at most once in this time. */
const WARN_PERIOD_MS = 60_000;
/** How long the last spans may take when the router stops. */
const LAST_MS = 1_500;

export interface SpanQueueOptions {
  /** Most spans that wait. */
  readonly size: number;
  /** Longest time that a span waits for others. */
  readonly periodMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Finished spans on their way out: bounded, sent in batches, one batch at a time. A batch that fails is not sent again. */
export class SpanQueue {
  readonly #exporter: SpanExporter;
  readonly #options: SpanQueueOptions;
  #waiting: Span[] = [];
  #isSending = false;
  #isClosing = false;
  /** After a failure, until the period is over: a receiver that refuses at once is not asked for each batch. */
  #isPausing = false;
  #cancelTimer: (() => void) | undefined;
  #cancelEnd: (() => void) | undefined;
  /** Why the receiver has not taken what was sent last; "" if it has. */
  fault = "";
  #lost = 0;
  #cause = "the router stopped before they were sent";
  #loggedLost = 0;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(exporter: SpanExporter, options: SpanQueueOptions) {
    this.#exporter = exporter;
    this.#options = options;
  }

  /** Takes all spans of a request, or none if there is no room for them. */
  add(spans: readonly Span[]): void {
    if (this.#isClosing) return;
    if (this.#waiting.length + spans.length > this.#options.size) {
      this.#lose(spans.length, "more requests are traced than the receiver takes");
      return;
    }
    this.#waiting.push(...spans);
    this.#arm();
  }

  /** Sends what waits, for a short time; then nothing is sent any more. */
  close(): void {
    this.#isClosing = true;
    this.#cancelTimer?.();
    this.#cancelEnd = this.#options.clock.after(LAST_MS, () => this.#exporter.close());
    if (!this.#isSending) void this.#send();
  }

  #arm(): void {
    if (this.#isSending) return;
    if (this.#waiting.length >= BATCH && !this.#isPausing) void this.#send();
    else this.#cancelTimer ??= this.#options.clock.after(this.#options.periodMs, () => void this.#send());
  }

  /** Sends whole batches as long as there are any; the first and, when the router stops, the last one may be smaller. */
  async #send(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#isSending = true;
    let reason = "";
    for (let least = 1; this.#waiting.length >= least && reason === ""; least = this.#isClosing ? 1 : BATCH) {
      const batch = this.#waiting.splice(0, BATCH);
      reason = await this.#exporter.send(batch);
      if (reason !== "") this.#lose(batch.length, reason);
    }
    this.#isSending = false;
    this.fault = reason;
    this.#isPausing = reason !== "";
    if (this.#isClosing) this.#end();
    else if (this.#waiting.length > 0) this.#arm();
  }

  #end(): void {
    this.#cancelEnd?.();
    this.#exporter.close();
    this.#lost += this.#waiting.length;
    this.#waiting = [];
    if (this.#lost > this.#loggedLost) this.#warn();
  }

  #lose(count: number, cause: string): void {
    this.#lost += count;
    this.#cause = cause;
    if (this.#options.clock.now() - this.#loggedAtMs >= WARN_PERIOD_MS) this.#warn();
  }

  #warn(): void {
    this.#options.log.warn("Spans are lost", { lostSoFar: this.#lost, cause: this.#cause });
    this.#loggedLost = this.#lost;
    this.#loggedAtMs = this.#options.clock.now();
  }
}
