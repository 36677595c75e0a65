/** Prompt lengths in tokens, both ends included; "any" without a label, "unreadable" for a label that is no range. */
export type LengthRange = { readonly min: number; readonly max: number } | "any" | "unreadable";

/** Reads a range such as "0-2048" from a label. */
export function rangeOf(labels: Readonly<Record<string, string>>, label: string): LengthRange {
  if (!Object.hasOwn(labels, label)) return "any";
  const bounds = /^\s*(\d{1,15})\s*-\s*(\d{1,15})\s*$/.exec(labels[label]!);
  if (bounds === null) return "unreadable";
  const min = Number(bounds[1]);
  const max = Number(bounds[2]);
  return min <= max ? { min, max } : "unreadable";
}

/** Whether the range includes this length. */
export function contains(range: LengthRange, tokens: number): boolean {
  if (range === "any") return true;
  return range !== "unreadable" && tokens >= range.min && tokens <= range.max;
}
