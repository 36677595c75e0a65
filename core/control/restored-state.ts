import type { SavedState, SavedValue } from "../state/facts-document.ts";
import { KeptState, keyOf } from "./kept-state.ts";

/** State that `KeptState.saved` wrote. Throws TypeError for one that does not fit its container. */
export function restoredState(saved: readonly SavedState[]): KeptState {
  return new KeptState(
    saved.map((one) => [keyOf(one.type, one.name), { version: one.version, state: restoredValue(one) }] as const),
  );
}

/** The state that `savedValue` wrote. Throws TypeError for a value that does not fit its container. */
export function restoredValue({ as, value }: SavedValue): unknown {
  if (as === "json") return value;
  if (!Array.isArray(value)) throw new TypeError("A map or a set is written as a list");
  return as === "map" ? new Map(value as [unknown, unknown][]) : new Set(value);
}
