import { Bounds, Histogram } from "../../../core/contract/histogram.ts";
import type { MirrorEnding, MirrorSkip } from "../../../core/contract/mirror.ts";
import type { MirrorBounds } from "./mirror-config.ts";

/** In seconds: from a cached prompt to one that waits for minutes. */
const FIRST_BYTE_S = new Bounds([0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60]);

/** What one mirror does, counted. It outlives a reload of the config. */
export class MirrorTally {
  readonly rule: string;
  readonly target: string;
  /** Those of now. */
  bounds: MirrorBounds;
  inFlight = 0;
  /** Copies so far. */
  sent = 0;
  /** Copies that have ended, by the class of their status ("2xx") or, without a whole response, by their ending. */
  readonly results = new Map<string, number>();
  /** Requests that were to be copied and were not, by reason. */
  readonly skipped = new Map<MirrorSkip, number>();
  /** Times to the first byte of copies, and of their own requests: only of pairs in which both got one. */
  readonly firstBytes = new Histogram(FIRST_BYTE_S);
  readonly originalFirstBytes = new Histogram(FIRST_BYTE_S);

  constructor(rule: string, target: string, bounds: MirrorBounds) {
    this.rule = rule;
    this.target = target;
    this.bounds = bounds;
  }

  /** Of the rule's requests, how many are copied. */
  get percent(): number {
    return this.bounds.percent;
  }

  get maxInFlight(): number {
    return this.bounds.maxInFlight;
  }

  skip(reason: MirrorSkip): void {
    this.skipped.set(reason, (this.skipped.get(reason) ?? 0) + 1);
  }

  begin(): void {
    this.inFlight += 1;
    this.sent += 1;
  }

  /** A copy has ended; `status` counts where its response was complete. */
  end(ending: MirrorEnding, status: number): void {
    this.inFlight -= 1;
    const result = ending === "complete" ? `${Math.floor(status / 100)}xx` : ending;
    this.results.set(result, (this.results.get(result) ?? 0) + 1);
  }

  /** A copy and its request have both got their first byte, after so many milliseconds. */
  compare(copyMs: number, originalMs: number): void {
    this.firstBytes.add(copyMs / 1000);
    this.originalFirstBytes.add(originalMs / 1000);
  }
}
