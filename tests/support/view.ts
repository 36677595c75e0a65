import { type Snapshot, servedModels } from "../../core/active-config.ts";
import type { Endpoint } from "../../core/contract/endpoint.ts";
import type { RewriteRule } from "../../core/contract/rewrite-rule.ts";
import type { RouterView } from "../../core/contract/router-view.ts";
import { makeLoad } from "../../core/contract/test-kit.ts";
import { DEFAULT_SETTINGS } from "../../core/settings.ts";
import { FakeClock } from "./fake-clock.ts";

/** A router at rest, started at its clock's beginning, over these endpoints. */
export function makeView(
  endpoints: readonly Endpoint[] = [],
  overrides: Partial<RouterView> & { snapshot?: Snapshot } = {},
): RouterView {
  return {
    clock: new FakeClock(),
    snapshot: makeSnapshot(endpoints),
    load: makeLoad(endpoints.length),
    prefixIndex: undefined,
    connectionsTo: () => 0,
    probeFailure: () => "",
    ...overrides,
  };
}

export function makeSnapshot(endpoints: readonly Endpoint[], overrides: Partial<Snapshot> = {}): Snapshot {
  return {
    pool: "llama",
    routes: new Map(),
    rewriters: [],
    profile: {
      name: "default",
      filters: [],
      scorers: [],
      picker: { name: "max-score", type: "max-score", plugin: { pick: (candidates) => candidates } },
      responseHeaders: [],
    },
    observers: [],
    settings: DEFAULT_SETTINGS,
    startedAtS: Date.UTC(2030, 0, 1) / 1000,
    endpoints,
    served: servedModels(endpoints),
    ...overrides,
  };
}

/** A rewriter that only shows its rules. */
export function showsRules(rules: readonly RewriteRule[]): Snapshot["rewriters"][number] {
  return { name: "model-rewrite", type: "model-rewrite", plugin: { clientModels: [], rules, draw: () => undefined } };
}

/** An exact rule over weighted targets. */
export function makeRule(
  name: string,
  targets: Readonly<Record<string, number>>,
  overrides: Partial<RewriteRule> = {},
): RewriteRule {
  return {
    name,
    models: ["food-review"],
    targets: Object.entries(targets).map(([target, weight]) => ({ name: target, weight })),
    stickyHeader: "",
    onUnavailable: "refuse",
    ...overrides,
  };
}
