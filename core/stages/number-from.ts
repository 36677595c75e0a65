import { ignoresPromise } from "../contract/returned-promise.ts";

/** What a plugin returned where its contract wants a number; NaN for anything else. */
export function numberFrom(returned: unknown): number {
  if (typeof returned === "number") return returned;
  ignoresPromise(returned);
  return Number.NaN;
}
