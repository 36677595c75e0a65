import { sectionFeature } from "../../../config/feature.ts";
import type { Run } from "../../../core/run.ts";
import type { Ticket } from "../../../core/ticket.ts";
import { KeyAccess } from "./access.ts";
import { authSection } from "./auth-config.ts";
import { CHOSEN_ID_KEYS } from "./chosen-ids.ts";
import { KEY } from "./commands.ts";
import { keyMetrics } from "./key-metrics.ts";

/** Knows clients by their keys: who may ask, for which models, and how much. */
export default sectionFeature({
  type: "auth",
  summary: "Knows clients by their keys: who may ask, for which models, and how much.",
  section: authSection,
  create(config, host) {
    const access = host.keep(1, () => new KeyAccess(host.clock));
    return {
      ...(config !== undefined && {
        bodyKeys: CHOSEN_ID_KEYS,
        enter: (run: Run) => access.enter(run.ticket, run.head, run.config),
        admit: (run: Run) => access.admit(run),
        lines: (run: Run) => access.lines(run.ticket, run.dialect),
        settled: (ticket: Ticket) => access.settled(ticket),
        shared: access.shared,
      }),
      metrics: () => keyMetrics(access.counts),
    };
  },
  commands: [KEY],
  text: {
    decision: ({ principal }) =>
      principal === null ? [] : [["asked by", `${principal.name} of the tenant ${principal.tenant}`]],
  },
});
