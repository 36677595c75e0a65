import type { Endpoint } from "../contract/endpoint.ts";
import type { GetResult } from "../wire/http-get-result.ts";

/** Who follows what an engine publishes of its cache. */
export interface SubscriptionOwner {
  /** Messages come from now on; what was published before may be missing. */
  connected(): void;
  /** The parts are overwritten when it returns. */
  message(parts: readonly Uint8Array[]): void;
  disconnected(why: string): void;
}

/** Who has asked for what an engine published before. */
export interface ReplayOwner {
  /** The bytes are overwritten when it returns. */
  replayed(sequence: number, payload: Uint8Array): void;
  /** All of it came. */
  done(): void;
  failed(why: string): void;
}

/** Sends a JSON text to a path of a replica; `done` gets its response, or undefined for none. */
export type PostText = (
  endpoint: Endpoint,
  path: string,
  body: string,
  bounds: { readonly timeoutMs: number; readonly maxBytes: number },
  done: (result: GetResult | undefined) => void,
) => void;

/** How modelled engines publish what their caches hold, in place of sockets. They are found by the host names of their endpoints. */
export interface EngineWire {
  subscribe(host: string, owner: SubscriptionOwner): { stop(): void };
  /** Asks for all from this number on. What it returns gives it up. */
  replay(host: string, from: number, owner: ReplayOwner): () => void;
  readonly post: PostText;
}
