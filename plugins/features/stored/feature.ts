import { sectionFeature } from "../../../config/feature.ts";
import type { Run } from "../../../core/run.ts";
import { Stored } from "./stored.ts";
import { storedSection } from "./stored-config.ts";
import { storedLines, storedMetrics, storedStatus } from "./stored-shown.ts";

/** Sends requests for stored responses, files, batches and conversations to the replica that keeps them. */
export default sectionFeature({
  type: "stored",
  summary: "Sends requests for stored responses, files, batches and conversations to the replica that keeps them.",
  section: storedSection,
  create(config, host) {
    const stored = host.keep(1, () => new Stored(host.clock));
    return {
      admit: (run, owner) => stored.admit(run as Run, owner),
      ...(config.isOn && { tap: (run, response) => stored.tap(run as Run, response) }),
      shared: stored.shared,
      configured: () => stored.use(config),
      endpointsChanged: (endpoints) => stored.follow(endpoints),
      replicaGone: (endpoint) => stored.replicaGone(endpoint),
      status: (rule) => (rule === undefined ? { stored: storedStatus(stored) } : {}),
      metrics: () => storedMetrics(stored),
      closed: () => stored.close(),
    };
  },
  text: { router: storedLines, top: storedLines },
});
