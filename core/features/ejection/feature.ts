import type { Feature } from "../feature.ts";
import { ejectionSection } from "./ejection-config.ts";
import { ejectionMetrics } from "./ejection-metrics.ts";
import { ejectionWarnings } from "./ejection-status.ts";
import { Ejections } from "./ejections.ts";

/** Takes endpoints out of the pool for what their responses are, and lets them return with care. */
export const ejection: Feature = {
  section: ejectionSection,
  judge: (host) => new Ejections(host),
  start: () => ({ warnings: ejectionWarnings, metrics: ejectionMetrics }),
};
