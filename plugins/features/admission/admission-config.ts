import { problemAt } from "../../../config/read/problems.ts";
import { section, writtenOf } from "../../../config/schema/section.ts";
import { headerName } from "../../../config/schema/values.ts";
import type { Section } from "../../../config/section.ts";
import { z } from "../../../core/contract/options.ts";
import { bytes, type ChoiceSetting, count, MIB, onOff, time, type ValuesOf } from "../../../core/settings/row.ts";
import type { FeatureConfigs } from "../../../core/settings.ts";

const ENGINE_PRIORITY: ChoiceSetting<"off" | "lower-first" | "higher-first"> = {
  default: "off",
  choices: ["off", "lower-first", "higher-first"],
  text: "Whether the request's priority is written into the body's priority, for engines that order their own queue by it: lower-first for vLLM with --scheduling-policy priority; higher-first for SGLang with --enable-priority-scheduling. Default off.",
};

const ADMISSION = {
  concurrency: count(0, "Requests under way at one replica. Without this and `tokens` the room of replicas is learned.", 0),
  tokens: count(0, "Prompt tokens that one replica has still to process; a prompt may exceed it alone.", 0, 1e9),
  maxRequests: count(1_000, "Most requests that wait; beyond it the least important gets 429.", 1, 100_000),
  maxBytes: bytes(256 * MIB, "Their bodies together.", 1, 1024 * 1024 * MIB),
  maxWaitMs: time(60_000, "How long one may wait; then it gets 429."),
  waitsForReplicas: onOff(false, "Whether requests also wait while no replica is ready, instead of getting 503."),
  enginePriority: ENGINE_PRIORITY,
  overridesPriority: onOff(
    false,
    "Whether enginePriority also takes the place of a priority that the client sent to the engine.",
  ),
};

/** The section as it is written. */
interface WrittenAdmission extends ValuesOf<typeof ADMISSION> {
  /** Lower case. The first that is there has the request's priority or the tenant's name; both are believed. */
  readonly priorityHeaders: readonly string[];
  readonly tenantHeaders: readonly string[];
  /** Priorities of requests by the model that they ask for. */
  readonly modelPriorities: Readonly<Record<string, number>>;
}

/** Who waits when the pool is full, and in which order. */
export interface AdmissionSettings extends WrittenAdmission {
  /** Priorities by the names of the InferenceObjective documents. */
  readonly objectives: ReadonlyMap<string, number>;
}

/** Puts requests in order, unless another plugin does. */
const DEFAULT_ADMISSION = "fair-queue";

export const LEAST_PRIORITY = -(2 ** 31);
export const MOST_PRIORITY = 2 ** 31 - 1;

const header = headerName.transform((name) => name.toLowerCase());
const headers = (text: string) => z.array(header).describe(text);

const admission = section(
  {
    ...ADMISSION,
    priorityHeaders: headers(
      "Headers with a request's priority, a whole number: the first that is there counts. They are believed.",
    ),
    tenantHeaders: headers("Headers with the name of the tenant that a request belongs to. They are believed."),
    modelPriorities: z
      .record(z.string(), z.int().min(LEAST_PRIORITY).max(MOST_PRIORITY))
      .describe("Priorities by model name, for requests whose headers say none. Higher goes first, below 0 is shed first."),
  },
  { priorityHeaders: [], tenantHeaders: [], modelPriorities: {} },
);

type Written = WrittenAdmission | undefined;
type Config = AdmissionSettings | undefined;

/** `spec.admission`. */
export const admissionSection = {
  key: "admission",
  inPools: "inherited",
  schema: admission
    .describe("Lets requests wait at the router while no replica has room for them. Default: they go to the engines' own queues.")
    .optional() as z.ZodType<Written>,
  of: (features: FeatureConfigs) => features.get("admission") as Config,
  read(written: Written, { objectives, router, warnings }): Config {
    if (written?.overridesPriority === true && written.enginePriority === "off") {
      const at = ["spec", "admission", "overridesPriority"];
      const finding = {
        found: "overridesPriority without enginePriority",
        wanted: "enginePriority: lower-first or higher-first",
      };
      warnings.push(problemAt(router.positionOf(at), at, finding));
    }
    return written && { ...written, objectives };
  },
  needs: (config) => (config === undefined ? [] : [DEFAULT_ADMISSION]),
  written: (config) => {
    if (config === undefined) return undefined;
    const { objectives: _, ...written } = config;
    return writtenOf(ADMISSION, written);
  },
} satisfies Section<Written, Config> & { readonly of: unknown };
