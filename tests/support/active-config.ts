import type { ActiveConfig, Profile } from "../../core/active-config.ts";
import { nameSet } from "../../core/contract/name-set.ts";
import { OwnRoutes } from "../../core/own-routes.ts";
import { DEFAULT_SETTINGS } from "../../core/settings.ts";
import { NO_SLOTS } from "../../core/slots.ts";

/** Without filters and scorers; it tries the candidates in their order. */
const IN_ORDER: Profile = {
  name: "default",
  filters: [],
  scorers: [],
  picker: { name: "in-order", type: "in-order", plugin: { pick: (candidates) => candidates } },
  chosen: [],
  responseHeaders: [],
};

/** A config without plugins but a picker, with the usual settings. */
export function makeActiveConfig(overrides: Partial<ActiveConfig> = {}): ActiveConfig {
  return {
    pool: "llama",
    routes: new Map(),
    rewriters: [],
    targets: nameSet(),
    profile: IN_ORDER,
    others: new Map(),
    admission: undefined,
    features: new Map(),
    modules: [],
    slots: NO_SLOTS,
    ownRoutes: new OwnRoutes(),
    observers: [],
    settings: DEFAULT_SETTINGS,
    ...overrides,
  };
}
