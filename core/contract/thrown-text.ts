const UNPRINTABLE = "a value that can't be shown";

/**
 * What was thrown, as text for a log: an Error's name and message, or the value itself. Never throws, though plugins may throw
 * objects that can't be turned into text.
 *
 * @example
 * host.log.error("The predictor failed", { cause: thrownText(new Error("It is not there")) });
 */
export function thrownText(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return UNPRINTABLE;
  }
}

/** The same without the name of an Error's class, for people. */
export function thrownMessage(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return UNPRINTABLE;
  }
}

/** The code of an error of the system or of a runtime, such as ENOENT; "" if it has none. */
export function thrownCode(thrown: unknown): string {
  return typeof thrown === "object" && thrown !== null && "code" in thrown ? String(thrown.code) : "";
}
