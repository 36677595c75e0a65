/** Levels that a document may have. */
export const MOST_LEVELS = 64;

/** Stands for a value with more levels, which could not even be compared: it is refused as that one is. */
export const TOO_DEEP: unknown = JSON.parse("[".repeat(MOST_LEVELS + 2) + "]".repeat(MOST_LEVELS + 2));

/** Whether plain data have more levels than a document may have. */
export function isTooDeep(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((entry) => isTooDeep(entry, levels - 1));
}
