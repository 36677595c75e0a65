import type { Clock } from "../contract/clock.ts";
import { systemClock } from "../contract/clock.ts";
import type { FaultChanges } from "./faults.ts";

/** How a mock replica is to behave; only the model has no default. */
export interface MockOptions {
  /** Name of the base model. */
  readonly model: string;
  /** Adapters loaded from the start. */
  readonly adapters?: readonly string[];
  /** Adapters that lie in the resolver's folder: loaded by the first request that names them. */
  readonly availableAdapters?: readonly string[];
  /** Serves embeddings instead of generation. */
  readonly isEmbedding?: boolean;
  /** False answers the token-id API with 403, as vLLM does unless started with --enable-scale-out. */
  readonly hasGenerate?: boolean;
  /** 0 takes any free port. */
  readonly port?: number;
  readonly host?: string;
  /** How long the model loads, in real time. */
  readonly loadingMs?: number;
  /** What a client meets meanwhile: 503 on everything but /health, or a refused connection. */
  readonly whileLoading?: "unavailable" | "refused";
  /** 1 is real time, 0 has no delays at all. */
  readonly timeScale?: number;
  readonly prefillTokensPerS?: number;
  readonly decodeStepMs?: number;
  readonly decodePerRequestMs?: number;
  /** Requests computed at the same time; the rest wait. */
  readonly maxRunning?: number;
  /** Size of the KV cache. */
  readonly kvTokens?: number;
  readonly blockTokens?: number;
  /** Prompt and reply together; never more than the KV cache holds. */
  readonly maxModelTokens?: number;
  /** Where a reply ends by itself when the client sets no lower limit. */
  readonly replyTokens?: number;
  readonly embeddingSize?: number;
  /** How long an idle connection stays open; 0 is for ever. */
  readonly keepAliveMs?: number;
  /** Replies with what arrived (method, path, headers, body) instead of made-up text. */
  readonly isEcho?: boolean;
  /** Requests remembered for tests. */
  readonly seenLimit?: number;
  readonly faults?: FaultChanges;
  readonly clock?: Clock;
}

/** The options with every default filled in. */
export type MockSettings = Required<MockOptions>;

/** Fills in the defaults: one H100-class replica, as other simulators publish it. */
export function settingsOf(options: MockOptions): MockSettings {
  const blockTokens = options.blockTokens ?? 16;
  const kvTokens = Math.max(1, Math.floor((options.kvTokens ?? 524_288) / blockTokens)) * blockTokens;
  return {
    adapters: [],
    availableAdapters: [],
    isEmbedding: false,
    hasGenerate: true,
    port: 0,
    host: "127.0.0.1",
    loadingMs: 0,
    whileLoading: "unavailable",
    timeScale: 1,
    prefillTokensPerS: 8000,
    decodeStepMs: 6,
    decodePerRequestMs: 0.35,
    maxRunning: 256,
    replyTokens: 128,
    embeddingSize: 32,
    keepAliveMs: 5000,
    isEcho: false,
    seenLimit: 1000,
    faults: {},
    clock: systemClock,
    ...options,
    blockTokens,
    kvTokens,
    maxModelTokens: Math.min(options.maxModelTokens ?? kvTokens, kvTokens),
  };
}
