import { defineScorer, z } from "signalbox/plugin";

/** What `parameters` may hold in the config. A mistake there is reported with its line. */
const options = z.strictObject({
  /** The label to read. */
  label: z.string().default("gpu"),
  /** The score of each value of the label, from 0 to 1. */
  scores: z.record(z.string(), z.number().min(0).max(1)),
});

/** Prefers endpoints by a label, such as the generation of their GPU or their price per hour. */
export default defineScorer({
  type: "label-preference",
  summary: "Prefers endpoints by the value of a label.",
  options,
  create({ label, scores }) {
    // `create` runs once for each config. `score` runs for each request and returns one number for each candidate, in their
    // order; 1 is best. (null instead of a number means "no opinion": then only the other scorers count for that candidate.)
    return {
      score: (_request, candidates) => candidates.map(({ labels }) => scores[labels[label] ?? ""] ?? 0),
    };
  },
});
