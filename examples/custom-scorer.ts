import { z } from "../core/contract/options.ts";
import { defineScorer } from "../core/contract/plugin.ts";

/** What `parameters` may hold in the config; a mistake there is reported with its line. */
const options = z.strictObject({
  /** The label that says what an endpoint is. */
  label: z.string().default("gpu"),
  /** How good each value of it is, from 0 to 1. */
  scores: z.record(z.string(), z.number().min(0).max(1)),
});

/** Prefers endpoints by a label, such as the generation of their GPU or the price of an hour. */
export default defineScorer({
  type: "label-preference",
  summary: "Prefers endpoints by the value of a label.",
  options,
  create({ label, scores }) {
    // This runs once per config. What it returns is asked for every request, and gives one number per candidate, in their
    // order; 1 is best. (null instead of a number means "no opinion": then only the other scorers count for that candidate.)
    return {
      score: (_request, candidates) => candidates.map(({ labels }) => scores[labels[label] ?? ""] ?? 0),
    };
  },
});
