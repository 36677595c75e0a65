import type { SavedValue } from "./facts-document.ts";

/** The state as JSON; undefined for one that has another shape, such as an object of a class. */
export function savedValue(state: unknown): SavedValue | undefined {
  if (state instanceof Map) return isPlain([...state]) ? { as: "map", value: [...state] } : undefined;
  if (state instanceof Set) return isPlain([...state]) ? { as: "set", value: [...state] } : undefined;
  return isPlain(state) ? { as: "json", value: state } : undefined;
}

/** The state that `savedValue` wrote. Throws TypeError for a value that does not fit its container. */
export function restoredValue({ as, value }: SavedValue): unknown {
  if (as === "json") return value;
  if (!Array.isArray(value)) throw new TypeError("A map or a set is written as a list");
  return as === "map" ? new Map(value as [unknown, unknown][]) : new Set(value);
}

/** Whether JSON can write it without a loss that matters: holes of lists become null. */
function isPlain(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value !== "object") return ["string", "boolean"].includes(typeof value) || Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isPlain);
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isPlain);
}
