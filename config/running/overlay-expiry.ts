import type { Clock } from "../../core/contract/clock.ts";
import type { RewriteChange } from "../rewrites/overlay.ts";
import type { ChangeableConfig } from "./changeable-config.ts";

/** The longest time that a timer takes. */
const LONGEST_MS = 2 ** 31 - 1;
/** How long to wait after a change that could not be dropped, because the rest of the config does not fit without it. */
const AGAIN_MS = 60_000;

/** Drops changes from the overlay when their time is over. */
export class OverlayExpiry {
  readonly #running: ChangeableConfig;
  readonly #clock: Clock;
  #cancel: () => void = () => {};
  #isClosed = false;

  constructor(running: ChangeableConfig, clock: Clock) {
    this.#running = running;
    this.#clock = clock;
  }

  /** Takes the overlay as it is now. Call it after each change. */
  follow(leastMs = 0): void {
    this.#cancel();
    const ends = this.#running.overlay.rewrites.flatMap(({ untilMs }) => (untilMs === undefined ? [] : [untilMs]));
    if (ends.length === 0 || this.#isClosed) return;
    const waitMs = Math.max(leastMs, Math.min(...ends) - this.#clock.wall());
    this.#cancel = this.#clock.after(Math.min(waitMs, LONGEST_MS), () => void this.#drop());
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  async #drop(): Promise<void> {
    const nowMs = this.#clock.wall();
    const isOver = ({ untilMs }: RewriteChange) => untilMs !== undefined && untilMs <= nowMs;
    const { isApplied } = await this.#running.change(
      (overlay) => ({ ...overlay, rewrites: overlay.rewrites.filter((change) => !isOver(change)) }),
      "expiry",
    );
    this.follow(isApplied ? 0 : AGAIN_MS);
  }
}
