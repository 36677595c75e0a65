import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { MAX_SLOTS } from "../../../core/state/load.ts";
import { NewTargets } from "./new-targets.ts";
import { OutcomeCounts } from "./outcome-counts.ts";

/** What the traffic of one replica told. Times are on the router's clock. */
export type RecordRow = ReturnType<typeof newRow>;

/** `answers`: those of the pool so far. */
function newRow({ slot, generation }: Endpoint, nowMs: number, answers: number) {
  return {
    slot,
    generation,
    outcomes: new OutcomeCounts(),
    // Whether its engine has worked: it sent a first token, or a whole response.
    hasAnswered: false,
    open: 0,
    openStreams: 0,
    // Since when streams are in flight.
    streamsSinceMs: nowMs,
    // When it last had nothing in flight, or the last byte came.
    activeAtMs: nowMs,
    newTargets: new NewTargets(),
    isLoadAhead: false,
    // The pool's answers before that.
    answersBefore: answers,
    // The most work that was ahead when the silence since `activeAtMs` began, as seen until then.
    silentWorkMs: 0,
    // NaN before the first look.
    workSeenUntilMs: Number.NaN,
    longestQuietMs: 0,
    times: 0,
    meanLogRatio: 0,
    meanExcessMs: 0,
  };
}

/** A row for the replica of each slot, and for those that have lost their slot to another one while requests there are under way. */
export class RecordRows {
  readonly #bySlot = new Array<RecordRow | undefined>(MAX_SLOTS);
  #left: RecordRow[] = [];

  /** Undefined where nothing is known of the replica. */
  of({ slot, generation }: Endpoint): RecordRow | undefined {
    const row = this.#bySlot[slot];
    if (row?.generation === generation) return row;
    for (const left of this.#left) if (left.slot === slot && left.generation === generation) return left;
    return undefined;
  }

  /** A late try of a replica that has gone leaves the row of the one that has its slot now as it is. */
  ofOrNew(endpoint: Endpoint, nowMs: number, answers: number): RecordRow {
    const known = this.of(endpoint);
    if (known !== undefined) return known;
    const row = newRow(endpoint, nowMs, answers);
    const holder = this.#bySlot[endpoint.slot];
    if (holder !== undefined && holder.generation > endpoint.generation) this.#left.push(row);
    else {
      if (holder !== undefined && holder.open > 0) this.#left.push(holder);
      this.#bySlot[endpoint.slot] = row;
    }
    return row;
  }

  each(visit: (row: RecordRow) => void): void {
    for (const row of this.#bySlot) if (row !== undefined) visit(row);
    for (const row of this.#left) visit(row);
  }

  /** Forgets replicas that have lost their slot, and have nothing under way any more. */
  forgetGone(): void {
    if (this.#left.length > 0) this.#left = this.#left.filter(({ open }) => open > 0);
  }
}
