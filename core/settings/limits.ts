import { KIB, type Limit, LONGEST_TIMER_MS, MIB, numbers, TIMER } from "./row.ts";

/** `spec.limits`: the types, the defaults, the schema and config/LIMITS.md are made of these rows. All limits are finite. */
export const LIMITS = {
  headBytes: {
    ...numbers("bytes", KIB, MIB),
    default: 32 * KIB,
    text: "Largest request head, all lines together.",
    beyond: "a request with a larger head: 431. Twice what common servers take, for long keys and tracing headers",
  },
  headerCount: {
    ...numbers("count", 1, 10_000),
    default: 128,
    text: "Most header lines in a head.",
    beyond: "a request with more header lines: 431",
  },
  bodyBytes: {
    ...numbers("bytes", 1, 1024 * MIB),
    default: 32 * MIB,
    text: "Largest request body.",
    beyond: "a larger body: 413, at once where its length is announced. 32 MiB is some eight million tokens",
  },
  memoryBytes: {
    ...numbers("bytes", 0, 1024 * 1024 * MIB),
    default: 0,
    text: "All request bodies under way and all unread responses together; 0 for a quarter of the memory, at most 1 GiB.",
    beyond:
      "all request bodies under way and all unread responses together: a new body gets 503, uploads that make no progress are cut for it; bodies up to 64 KiB may take a sixteenth more. 0 stands for a quarter of the machine's or the container's memory, at most 1 GiB",
  },
  bodyDepth: {
    ...numbers("count", 1, 10_000),
    default: 256,
    text: "Deepest nesting of a JSON body.",
    beyond: "JSON nested deeper: 400",
  },
  headTimeoutMs: {
    ...TIMER,
    default: 20_000,
    text: "From the first byte of a request head to its last.",
    beyond: "a head that is not complete: 408. Also a new connection without a request",
  },
  bodyTimeoutMs: {
    ...TIMER,
    default: 60_000,
    text: "From the end of the head to the end of the body.",
    beyond: "a body that is not complete after its head: 408, and no replica has seen it",
  },
  idleTimeoutMs: {
    ...TIMER,
    default: 75_000,
    text: "How long a client connection may stay open without a request.",
    beyond: "a client connection without a request: closed. Longer than load balancers keep theirs",
  },
  writeTimeoutMs: {
    ...TIMER,
    default: 60_000,
    text: "How long a client may read nothing of a response.",
    beyond: "a client that reads nothing of a response: reset. Noticed up to an eighth of this late",
  },
  connectTimeoutMs: {
    ...TIMER,
    default: 1_000,
    text: "Opening a connection to a replica, TLS included.",
    beyond:
      "opening a connection to a replica: the next pick is tried. Replicas are near, so lost SYNs are not worth waiting for",
  },
  responseTimeoutMs: {
    ...TIMER,
    default: 600_000,
    text: "From the request's last byte sent to the response's head.",
    beyond: "a response whose head does not arrive: 504. SDKs wait as long",
  },
  streamIdleTimeoutMs: {
    ...TIMER,
    default: 600_000,
    text: "Longest silence inside a response.",
    beyond: "silence inside a response: error event. A long prefill is silent; a replica that is gone is noticed sooner",
  },
  upstreamIdleTimeoutMs: {
    ...TIMER,
    default: 3_000,
    text: "How long an unused connection to a replica is kept.",
    beyond: "an unused connection to a replica: closed, before the replica would close it at 5 s",
  },
  upstreamConnections: {
    ...numbers("count", 1, 65_535),
    default: 4_096,
    text: "Connections to one replica at once.",
    beyond: "more connections to one replica: the next pick, else 429",
  },
  clientConnections: {
    ...numbers("count", 1, 1_000_000),
    default: 16_384,
    text: "Client connections at once; some more wait for their turn, the others are closed.",
    beyond:
      "more client connections wait, unread, until another one ends, for `headTimeoutMs` at most. At most 1,024 wait, and at most an eighth of the clients that file descriptors allow; others are closed",
  },
  perClientConnections: {
    ...numbers("count", 0, 1_000_000),
    default: 0,
    text: "Connections of one client address at once; those beyond it are closed at once. 0 turns it off.",
    beyond:
      "more connections of one client address: closed at once. 0 turns it off; behind a load balancer all clients have one address",
  },
  perClientRequests: {
    ...numbers("count", 0, 1_000_000),
    default: 0,
    text: "Requests of one client address under way at once; those beyond it get 429. 0 turns it off.",
    beyond: "more requests of one client address under way: 429 with Retry-After. 0 turns it off",
  },
  pluginMs: {
    ...numbers("milliseconds", 1, 60_000),
    default: 2,
    text: "Time that a filter, scorer or picker may take for one request.",
    beyond:
      "a filter, scorer or picker that takes longer for most requests is named in the log and in /status; a scorer that stays slow for ten seconds has no vote until it is faster",
  },
  retries: {
    ...numbers("count", 0, 100),
    default: 2,
    text: "Extra tries on other replicas after the first.",
    beyond: "more tries after the first; see `core/DECISIONS.md` for what may be tried again",
  },
  settleMs: {
    ...numbers("milliseconds", 0, LONGEST_TIMER_MS),
    default: 0,
    text: "How long a stop still accepts connections while /ready says 503, so that load balancers notice.",
    beyond:
      "after a SIGTERM, `/ready` says 503 for so long while everything is still served. Behind a load balancer: longer than it takes to notice",
  },
  drainTimeoutMs: {
    ...numbers("milliseconds", 0, LONGEST_TIMER_MS),
    default: 25_000,
    text: "How long a stop waits for requests under way.",
    beyond: "requests still in progress after a SIGTERM: error event",
  },
} satisfies Readonly<Record<string, Limit>>;
