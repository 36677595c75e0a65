import { z } from "../../core/contract/options.ts";

const SUFFIXES: Readonly<Record<string, number>> = {
  ...{ k: 1e3, M: 1e6, G: 1e9, T: 1e12 },
  ...{ Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 },
};
const UNITS_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

/** A quantity as Kubernetes writes it: 1000, 500M, 1Gi. */
const quantity = z
  .union([z.number().min(0), z.string().regex(/^\d+(\.\d+)?([kMGT]i?)?$/, "a quantity such as 1000, 500M or 1Gi")])
  .transform((value) => {
    const [, number = "0", suffix = ""] = /^([\d.]+)(.*)$/.exec(String(value)) ?? [];
    return Math.floor(Number(number) * (SUFFIXES[suffix] ?? 1));
  });

/** A time as Go writes it: 90s, 1m30s, 500ms. */
const goTime = z
  .string()
  .regex(/^(0|(\d+(\.\d+)?(h|ms|m|s))+)$/, "a time such as 60s or 1m30s")
  .transform((text) =>
    [...text.matchAll(/([\d.]+)(h|ms|m|s)/g)].reduce((ms, [, number, unit]) => ms + Number(number) * UNITS_MS[unit!]!, 0),
  );

const band = z.strictObject({
  priority: z.int().optional(),
  maxBytes: quantity.describe("Here the bands share one line, which has the bounds of all of them together.").optional(),
  maxRequests: quantity.optional(),
  fairnessPolicyRef: z.string().describe("The same for all bands.").optional(),
  orderingPolicyRef: z.string().describe("The same for all bands.").optional(),
});

/** What is in `flowControl` besides the detector. */
export const flowControlShape = {
  maxBytes: quantity.optional(),
  maxRequests: quantity.optional(),
  defaultRequestTTL: goTime.describe("How long a request may wait. Default 60s; 0 stands for a day.").optional(),
  noEndpointRequestTTL: goTime.describe("Ignored: requests wait as long while no replica is ready.").optional(),
  defaultPriorityBand: band.optional(),
  defaultNegativePriorityBand: band.optional(),
  priorityBands: z.array(band).optional(),
  usageLimitPolicyPluginRef: z.string().optional(),
  enableEviction: z.literal(false, "false: requests that were sent to a replica are not taken back").optional(),
};
