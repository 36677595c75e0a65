import type { SavedValue } from "./facts-document.ts";

/** The state as JSON; undefined for one that has another shape, such as an object of a class. */
export function savedValue(state: unknown): SavedValue | undefined {
  if (state instanceof Map) return isPlain([...state]) ? { as: "map", value: [...state] } : undefined;
  if (state instanceof Set) return isPlain([...state]) ? { as: "set", value: [...state] } : undefined;
  return isPlain(state) ? { as: "json", value: state } : undefined;
}

/** Whether JSON can write it without a loss that matters: holes of lists become null. */
function isPlain(value: unknown): boolean {
  if (value === null || value === undefined) return true;
  if (typeof value !== "object") return ["string", "boolean"].includes(typeof value) || Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isPlain);
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isPlain);
}
