import { sectionFeature } from "../../../config/feature.ts";
import type { Run } from "../../../core/run.ts";
import { Quarantine } from "./quarantine.ts";
import { quarantineSection } from "./quarantine-config.ts";
import { quarantineMetrics, quarantineWarnings } from "./quarantine-shown.ts";

/** Refuses prompts for a while that replicas have died of. */
export default sectionFeature({
  type: "quarantine",
  summary: "Refuses prompts for a while that replicas have died of.",
  section: quarantineSection,
  create(config, host) {
    const { clock, log, load } = host;
    const quarantine = host.keep(1, () => new Quarantine({ clock, log, inFlight: ({ slot }) => load.inFlight[slot]! }));
    return {
      ...(config.isOn && {
        admit: (run: Run) => quarantine.admit(run),
        lost: (run, endpoint, sentAtMs) => quarantine.lost(run, endpoint, sentAtMs),
        freesBody: (run) => quarantine.freesBody(run),
        settled: (outcome) => quarantine.settled(outcome),
      }),
      configured: () => quarantine.use(config),
      replicaGone: (endpoint) => quarantine.replicaGone(endpoint),
      warnings: () => quarantineWarnings(quarantine),
      metrics: () => quarantineMetrics(quarantine),
      closed: () => quarantine.close(),
    };
  },
});
