import type { ActiveConfig } from "../active-config.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { Trace } from "../contract/trace.ts";
import type { DataPlane } from "../data-plane.ts";
import type { KeepAliveRule } from "./keep-alive.ts";
import type { Draft } from "./rewrite.ts";

/** What of the data plane the tries of a request use. */
export type ForwardPlane = Pick<
  DataPlane,
  | "checkModels"
  | "clock"
  | "connectFailed"
  | "load"
  | "log"
  | "pluginFaults"
  | "poolOf"
  | "prefixIndex"
  | "random"
  | "retryBudget"
  | "silences"
  | "tokenScale"
  | "traffic"
>;

/** What all tries of one leg have in common. */
export interface Sending {
  readonly request: InferenceRequest;
  /** When the request's head was complete, in milliseconds on the router's clock. */
  readonly headAtMs: number;
  readonly draft: Draft;
  /** Events at the beginning of a stream of this API that come before the prompt is processed. */
  readonly openingEvents: number;
  /** What a silent event stream gets; undefined for nothing. */
  readonly keepAlive: KeepAliveRule | undefined;
  readonly config: ActiveConfig;
  readonly plane: ForwardPlane;
  /** Absent when the request is not traced. */
  readonly trace?: Trace | undefined;
}
