import { z } from "../../core/contract/options.ts";
import type { BuiltInJob } from "./types.ts";

// Plugins of the reference that follow what engines publish of their caches, which `spec.kvEvents` does here.

export const PRECISE_PRODUCER = "precise-prefix-cache-producer";
/** The older name, for the producer and the scorer that reads it in one. */
export const PRECISE_SCORER = "precise-prefix-cache-scorer";

/** Where engines publish, and what their topics begin with, if the file does not say it. */
export const USUAL_PORT = 5557;
export const USUAL_TOPIC = "kv@";

const unused = z.unknown().optional();
const port = z.int().min(1).max(65_535);

const podDiscovery = z.strictObject({
  podLabelSelector: unused,
  podNamespace: unused,
  socketPort: port.default(USUAL_PORT),
});

const kvEvents = z.strictObject({
  zmqEndpoint: z
    .string()
    .regex(/^(tcp:\/\/.*:\d{1,5})?$/, "an address such as tcp://0.0.0.0:5557")
    .exactOptional(),
  topicFilter: z.string().max(253).default(USUAL_TOPIC),
  concurrency: unused,
  engineType: z.enum(["vllm", "sglang", ""], "vllm or sglang: those events are read").exactOptional(),
  discoverPods: z.boolean().default(true),
  podDiscoveryConfig: podDiscovery.nullable().exactOptional(),
});

/** What describes the reference's own index, hashes and tokenizer says nothing here: blocks have the size that the events have. */
export const preciseParameters = z.strictObject({
  tokenProcessorConfig: unused,
  indexerConfig: unused,
  kvEventsConfig: kvEvents.nullable().exactOptional(),
  speculativeIndexing: unused,
  speculativeTTL: unused,
});

export const CACHE_EVENT_JOBS: Readonly<Record<string, BuiltInJob>> = {
  [PRECISE_PRODUCER]: {
    role: "producer",
    effect: "taken over",
    why: "by spec.kvEvents: the router follows the events of each replica, and believes them while responses confirm it",
    schema: preciseParameters,
  },
};
