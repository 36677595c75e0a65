import { sectionFeature } from "../../../config/feature.ts";
import { ejectionSection } from "./ejection-config.ts";
import { ejectionMetrics } from "./ejection-metrics.ts";
import { ejectionWarnings } from "./ejection-status.ts";
import { Ejections } from "./ejections.ts";

/** Takes endpoints out of the pool for what their responses are, and lets them return with care. */
export default sectionFeature({
  type: "ejection",
  summary: "Takes endpoints out of the pool for what their responses are, and lets them return with care.",
  section: ejectionSection,
  judge: (host) => new Ejections(host),
  create: () => ({ warnings: ejectionWarnings, metrics: ejectionMetrics }),
});
