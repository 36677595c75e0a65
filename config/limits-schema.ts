import { z } from "../core/contract/options.ts";
import { DEFAULT_LIMITS, type Limits } from "../core/settings.ts";
import { inBytes, inMilliseconds } from "./measures.ts";
import { whole } from "./whole.ts";

// The schema of spec.limits.

const LARGEST_BUFFER = 2 ** 30;
const LARGEST_MEMORY = 2 ** 40;
/** The runtimes' timers take no longer time. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

const bytes = (min: number, max = LARGEST_BUFFER) => inBytes(whole(min, max));
const milliseconds = inMilliseconds(whole(1, LONGEST_TIMER_MS));

const limit = (name: keyof Limits, schema: z.ZodType<number>, meaning: string) =>
  schema.describe(`${meaning} Default ${DEFAULT_LIMITS[name]}.`).exactOptional();

export const limits = z.strictObject({
  headBytes: limit("headBytes", bytes(1024, 1024 * 1024), "Largest request head, all lines together."),
  headerCount: limit("headerCount", whole(1, 10_000), "Most header lines in a head."),
  bodyBytes: limit("bodyBytes", bytes(1), "Largest request body."),
  memoryBytes: limit(
    "memoryBytes",
    bytes(0, LARGEST_MEMORY),
    "All request bodies under way and all unread responses together; 0 for a quarter of the memory, at most 1 GiB.",
  ),
  bodyDepth: limit("bodyDepth", whole(1, 10_000), "Deepest nesting of a JSON body."),
  headTimeoutMs: limit("headTimeoutMs", milliseconds, "From the first byte of a request head to its last."),
  bodyTimeoutMs: limit("bodyTimeoutMs", milliseconds, "From the end of the head to the end of the body."),
  idleTimeoutMs: limit("idleTimeoutMs", milliseconds, "How long a client connection may stay open without a request."),
  writeTimeoutMs: limit("writeTimeoutMs", milliseconds, "How long a client may read nothing of a response."),
  connectTimeoutMs: limit("connectTimeoutMs", milliseconds, "Opening a connection to a replica, TLS included."),
  responseTimeoutMs: limit("responseTimeoutMs", milliseconds, "From the request's last byte sent to the response's head."),
  streamIdleTimeoutMs: limit("streamIdleTimeoutMs", milliseconds, "Longest silence inside a response."),
  upstreamIdleTimeoutMs: limit("upstreamIdleTimeoutMs", milliseconds, "How long an unused connection to a replica is kept."),
  upstreamConnections: limit("upstreamConnections", whole(1, 65_535), "Connections to one replica at once."),
  clientConnections: limit(
    "clientConnections",
    whole(1, 1_000_000),
    "Client connections at once; some more wait for their turn, the others are closed.",
  ),
  perClientConnections: limit(
    "perClientConnections",
    whole(0, 1_000_000),
    "Connections of one client address at once; those beyond it are closed at once. 0 turns it off.",
  ),
  perClientRequests: limit(
    "perClientRequests",
    whole(0, 1_000_000),
    "Requests of one client address under way at once; those beyond it get 429. 0 turns it off.",
  ),
  pluginMs: limit("pluginMs", inMilliseconds(whole(1, 60_000)), "Time that a filter, scorer or picker may take for one request."),
  retries: limit("retries", whole(0, 100), "Extra tries on other replicas after the first."),
  settleMs: limit(
    "settleMs",
    inMilliseconds(whole(0, LONGEST_TIMER_MS)),
    "How long a stop still accepts connections while /ready says 503, so that load balancers notice.",
  ),
  drainTimeoutMs: limit(
    "drainTimeoutMs",
    inMilliseconds(whole(0, LONGEST_TIMER_MS)),
    "How long a stop waits for requests under way.",
  ),
} satisfies Record<keyof Limits, z.ZodType>);
