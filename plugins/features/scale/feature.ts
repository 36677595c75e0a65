import { sectionFeature } from "../../../config/feature.ts";
import type { Run } from "../../../core/run.ts";
import { Scale } from "./scale.ts";
import { scaleSection } from "./scale-config.ts";
import { scaleLines, scaleMetrics, scaleStatus } from "./scale-shown.ts";

/** Says how many replicas are wanted, for autoscalers. */
export default sectionFeature({
  type: "scale",
  summary: "Says how many replicas are wanted, for autoscalers.",
  section: scaleSection,
  create(config, host) {
    const scale = host.keep(1, () => new Scale(host));
    return {
      // A request ends with the features of the config with which it began.
      ...(config !== undefined && {
        admit: (run) => void scale.arrived(run as Run),
        settled: (outcome) => scale.settled(outcome),
      }),
      configured: (active) => scale.use(active, config),
      status: (rule) => (rule === undefined ? { scale: scaleStatus(scale) } : {}),
      metrics: () => scaleMetrics(scale),
      closed: () => scale.close(),
    };
  },
  text: { router: scaleLines, top: scaleLines },
});
