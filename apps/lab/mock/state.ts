import type { Adapters } from "./adapters.ts";
import type { Engine } from "./engine.ts";
import type { FaultSwitch } from "./faults.ts";
import type { Metrics } from "./metrics.ts";
import type { MockSettings } from "./options.ts";
import type { Seen } from "./seen.ts";
import type { Transfers } from "./transfer/transfers.ts";

/** What the routes of the mock replica share. */
export interface ReplicaState {
  readonly settings: MockSettings;
  readonly adapters: Adapters;
  readonly engine: Engine;
  readonly metrics: Metrics;
  readonly faults: FaultSwitch;
  readonly seen: Seen;
  readonly transfers: Transfers;
  /** False while the model loads. */
  isLoaded: boolean;
}
