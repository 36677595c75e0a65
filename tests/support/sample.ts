/** Where `npm test` runs a suite whole on another runtime: of cases that come from data alone, this one runs a fixed sample. */
const STEP = process.env["SIGNALBOX_SAMPLE"] === "1" ? 7 : 1;

/** All cases, or every seventh. */
export function sampled<T>(cases: readonly T[]): readonly T[] {
  return cases.filter((_case, index) => index % STEP === 0);
}

/** Between two places where a text is cut; what comes byte by byte, and the fuzz targets, have all others. */
const CUT_STEP = 5;

/** Where to cut a text in two, from the first place to before the end: every fifth, or each seventh of these. At most `most`. */
export function offsets(first: number, end: number, most = Number.POSITIVE_INFINITY): readonly number[] {
  const step = Math.max(CUT_STEP * STEP, Math.ceil((end - first) / most));
  return Array.from({ length: Math.max(0, Math.ceil((end - first) / step)) }, (_, index) => first + index * step);
}
