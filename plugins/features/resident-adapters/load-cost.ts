import { median } from "../../../core/state/median.ts";

/** Where an adapter was when its request was sent: with its engine, in its host's memory, or nowhere; or there, but perhaps not any more. */
export type Standing = "held" | "warm" | "cold" | "unknown";

/** What a load takes before one was measured: from the disk, and from the host's memory. */
const FIRST_MS = { cold: 250, warm: 50 } as const;
/** So little, and a request still goes where its adapter is rather than by chance, but waits for nobody there. */
const LEAST_MS = 20;
const MOST_MS = 60_000;
/** A load from the host's memory is a part of one from the disk: however alike both seem, an adapter goes where it is kept. */
const WARM_SHARE = 0.5;

/**
 * How long loads take, learned from first tokens: by how much longer they took than their prompts should, where the adapter was loaded
 * for them, against where it was not. Medians, because some requests wait for other things.
 */
export class LoadCost {
  readonly #samples = { held: samplesOf(33), warm: samplesOf(9), cold: samplesOf(9) };

  learn(standing: Standing, lateMs: number): void {
    if (standing === "unknown") return;
    const samples = this.#samples[standing];
    samples.late[samples.count % samples.late.length] = lateMs;
    samples.count += 1;
  }

  ms(from: "warm" | "cold"): number {
    const late = medianOf(this.#samples[from]);
    const usual = medianOf(this.#samples.held);
    const ms = Number.isNaN(late)
      ? FIRST_MS[from]
      : Math.min(MOST_MS, Math.max(LEAST_MS, late - (Number.isNaN(usual) ? 0 : usual)));
    return from === "warm" ? Math.min(ms, WARM_SHARE * this.ms("cold")) : ms;
  }
}

interface Samples {
  readonly late: Float64Array;
  count: number;
}

function samplesOf(length: number): Samples {
  return { late: new Float64Array(length), count: 0 };
}

/** NaN before the first sample. */
function medianOf({ late, count }: Samples): number {
  return median(late, Math.min(count, late.length));
}
