import type { Traffic } from "../../core/state/traffic.ts";

const WORDS = [
  "sent",
  "held",
  "released",
  "firstToken",
  "responded",
  "malformed",
  "failed",
  "abandoned",
  "unasked",
  "freesBody",
] as const;

/** Keeps which of its methods were called, in order. */
export function keptTraffic(): { readonly told: string[]; readonly traffic: Traffic } {
  const told: string[] = [];
  const keep = (word: string) => () => void told.push(word);
  return { told, traffic: Object.fromEntries(WORDS.map((word) => [word, keep(word)])) as unknown as Traffic };
}
