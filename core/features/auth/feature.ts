import type { Feature } from "../feature.ts";
import { KeyAccess } from "./access.ts";
import { authSection } from "./auth-config.ts";
import { keyMetrics } from "./key-metrics.ts";

/** Knows clients by their keys: who may ask, for which models, and how much. */
export const auth: Feature = {
  section: authSection,
  start({ services }) {
    const access = new KeyAccess(services.clock);
    return { access, settled: (ticket) => access.settled(ticket), metrics: () => keyMetrics(access.counts) };
  },
  text: {
    decision: ({ principal }) =>
      principal === null ? [] : [["asked by", `${principal.name} of the tenant ${principal.tenant}`]],
  },
};
