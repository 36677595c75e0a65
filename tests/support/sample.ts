/** Where `npm test` runs a suite whole on another runtime: of cases that come from data alone, this one runs a fixed sample. */
const STEP = process.env["SIGNALBOX_SAMPLE"] === "1" ? 7 : 1;

/** All cases, or every seventh. */
export function sampled<T>(cases: readonly T[]): readonly T[] {
  return cases.filter((_case, index) => index % STEP === 0);
}

/** Offsets from the first to before the end: each, or every seventh. */
export function offsets(first: number, end: number): readonly number[] {
  return Array.from({ length: Math.max(0, Math.ceil((end - first) / STEP)) }, (_, index) => first + index * STEP);
}
