import { section, writtenOf } from "../../../config/schema/section.ts";
import type { Section } from "../../../config/section.ts";
import type { z } from "../../../core/contract/options.ts";
import { count, part, time, type ValuesOf } from "../../../core/settings/row.ts";

const SCALE = {
  utilization: part(0.8, "How much of a replica's room the wanted replicas are to use: the rest is for bursts.", 0.05, 1),
  windowMs: time(120_000, "The wanted number is for the mean of the traffic in so long a time.", 10_000, 3_600_000),
  idleMs: time(300_000, "At least one replica is wanted for so long after the last request; then none.", 1_000),
  concurrency: count(
    0,
    "Requests that one replica can have under way. Default: spec.admission.concurrency, or what is learned of the engines.",
    0,
  ),
};

/** How many replicas are wanted. */
export type ScaleSettings = ValuesOf<typeof SCALE>;

type Written = ScaleSettings | undefined;

/** `spec.scale`. */
export const scaleSection = {
  key: "scale",
  inPools: "own",
  schema: section(SCALE)
    .describe("Says how many replicas are wanted (GET /scale on the admin port, metrics), for autoscalers. Default: off.")
    .optional() as z.ZodType<Written>,
  read: (written: Written) => written,
  written: (config) => config && writtenOf(SCALE, config),
} satisfies Section<Written, Written>;
