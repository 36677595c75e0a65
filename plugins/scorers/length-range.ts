/** Prompt lengths in tokens, both ends included; or that a label says nothing, or nothing that can be read. */
export type LengthRange = { readonly min: number; readonly max: number } | "any" | "unreadable";

/** Reads "0-2048" from a label. */
export function rangeOf(labels: Readonly<Record<string, string>>, label: string): LengthRange {
  if (!Object.hasOwn(labels, label)) return "any";
  const bounds = /^\s*(\d{1,15})\s*-\s*(\d{1,15})\s*$/.exec(labels[label]!);
  if (bounds === null) return "unreadable";
  const min = Number(bounds[1]);
  const max = Number(bounds[2]);
  return min <= max ? { min, max } : "unreadable";
}

/** Whether a prompt of this length may go there. */
export function contains(range: LengthRange, tokens: number): boolean {
  if (range === "any") return true;
  return range !== "unreadable" && tokens >= range.min && tokens <= range.max;
}
