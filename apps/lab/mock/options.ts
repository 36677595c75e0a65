import { type Clock, systemClock } from "../../../core/contract/clock.ts";
import type { AdapterTimes } from "../engine/adapter-slots.ts";
import { ENGINE_TIMES, type EngineTimes } from "../engine/engine-times.ts";
import type { FaultChanges } from "./faults.ts";
import { type TransferOptions, transferSettings } from "./transfer/options.ts";

/** Options of a mock replica. Only the model has no default. */
export interface MockOptions extends Partial<EngineTimes>, Partial<AdapterTimes>, TransferOptions {
  /** Name of the base model. */
  readonly model: string;
  /** Adapters loaded from the start. */
  readonly adapters?: readonly string[];
  /** Adapters in the resolver's folder: each is loaded by the first request that names it. */
  readonly availableAdapters?: readonly string[];
  /** How long such a load takes; not changed by `timeScale`. */
  readonly adapterLoadMs?: number;
  /** Serves embeddings instead of generation. */
  readonly isEmbedding?: boolean;
  /** If false, the token-id API responds with 403, as vLLM does without --enable-scale-out. */
  readonly hasGenerate?: boolean;
  /** 0 takes any free port. */
  readonly port?: number;
  readonly host?: string;
  /** How long the model loads; not changed by `timeScale`. */
  readonly loadingMs?: number;
  /** Meanwhile: 503 on every path but /health, or refused connections. */
  readonly whileLoading?: "unavailable" | "refused";
  /** 1 is real time, 0 has no delays at all. */
  readonly timeScale?: number;
  /** Output tokens in one event of a stream, after the first one, as vLLM's --stream-interval. */
  readonly streamInterval?: number;
  /** Longest prompt and output together; limited by the KV cache. */
  readonly maxModelTokens?: number;
  /** Output length, unless the client sets a lower limit. */
  readonly replyTokens?: number;
  readonly embeddingSize?: number;
  /** How long an idle connection stays open; 0 means forever. */
  readonly keepAliveMs?: number;
  /** The key that paths under /v1 want as a bearer token; "" for none. */
  readonly apiKey?: string;
  /** Outputs the request (method, path, headers, body) instead of made-up text. */
  readonly isEcho?: boolean;
  /** Most requests kept for tests. */
  readonly seenLimit?: number;
  readonly faults?: FaultChanges;
  readonly clock?: Clock;
}

/** The options with all defaults filled in. */
export type MockSettings = Required<MockOptions>;

/** Fills in the defaults: an H100-class replica, with the timing that other simulators publish. */
export function settingsOf(options: MockOptions): MockSettings {
  const blockTokens = options.blockTokens ?? ENGINE_TIMES.blockTokens;
  const kvTokens = Math.max(1, Math.floor((options.kvTokens ?? ENGINE_TIMES.kvTokens) / blockTokens)) * blockTokens;
  return {
    adapters: [],
    availableAdapters: [],
    adapterLoadMs: 0,
    maxLoras: 2,
    maxCpuLoras: 0,
    adapterColdMs: 0,
    adapterWarmMs: 0,
    isEmbedding: false,
    hasGenerate: true,
    port: 0,
    host: "127.0.0.1",
    loadingMs: 0,
    whileLoading: "unavailable",
    timeScale: 1,
    ...ENGINE_TIMES,
    overheadMs: 0,
    streamInterval: 1,
    replyTokens: 128,
    embeddingSize: 32,
    keepAliveMs: 5000,
    apiKey: "",
    isEcho: false,
    seenLimit: 1000,
    faults: {},
    clock: systemClock,
    ...options,
    ...transferSettings(options),
    blockTokens,
    kvTokens,
    maxModelTokens: Math.min(options.maxModelTokens ?? kvTokens, kvTokens),
  };
}
