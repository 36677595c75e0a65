import { known } from "./choice-report.ts";
import type { MirrorRecord } from "./mirror.ts";
import type { ShadowChoice } from "./shadow.ts";

/** A mirror's copy as JSON: null for a time that is not known. */
export interface MirrorReport extends Omit<MirrorRecord, "firstByteMs"> {
  readonly firstByteMs: number | null;
}

/** The shadow's choice as JSON: null where there is nothing to compare. */
export interface ShadowReport extends Omit<ShadowChoice, "differenceMs"> {
  readonly differenceMs: number | null;
}

export function mirrorReports(records: readonly MirrorRecord[] = []): readonly MirrorReport[] {
  return records.map((record) => ({ ...record, firstByteMs: known(record.firstByteMs) }));
}

export function shadowReport(choice: ShadowChoice | undefined): ShadowReport | null {
  return choice === undefined ? null : { ...choice, differenceMs: known(choice.differenceMs) };
}
