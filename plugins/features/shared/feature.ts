import { sectionFeature } from "../../../config/feature.ts";
import { sharedSection } from "./shared-config.ts";
import { SharedLog } from "./shared-log.ts";
import { sharedMetrics } from "./shared-metrics.ts";
import { sharedLines, sharedStatus, sharedWarnings } from "./shared-status.ts";

/** Lets several routers in front of one pool know what each of them does there. */
export default sectionFeature({
  type: "shared",
  summary: "Lets several routers in front of one pool know what each of them does there.",
  section: sharedSection,
  create(config, host) {
    const log = host.keep(1, () => new SharedLog(host, host.services));
    return {
      configured: ({ pool, modules }) => log.use(config, pool, modules),
      endpointsChanged: (endpoints) => log.follow(endpoints),
      status: (rule) => (rule === undefined ? { shared: sharedStatus(log.view) } : {}),
      warnings: () => sharedWarnings(log.view),
      metrics: () => sharedMetrics(log.view),
      closed: () => log.close(),
    };
  },
  text: { router: sharedLines },
});
