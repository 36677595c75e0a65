import { sectionFeature } from "../../../config/feature.ts";
import type { Run } from "../../../core/run.ts";
import { KvEvents } from "./kv-events.ts";
import { kvEventsSection } from "./kv-events-config.ts";
import { kvEventsLines, kvEventsMetrics, kvEventsNotes, kvEventsWarnings } from "./kv-events-shown.ts";
import { kvEventsStatus } from "./kv-events-status.ts";

/** Follows what engines publish of their caches. */
export default sectionFeature({
  type: "kv-events",
  summary: "Follows what engines publish of their caches, and believes it while responses confirm it.",
  section: kvEventsSection,
  create(settings, host) {
    const events = host.keep(1, () => new KvEvents(host));
    return {
      ...(settings !== undefined && {
        copy: (run, request) => events.sent(run as Run, request),
        settled: (outcome) => events.settled(outcome),
        explain: (outcome) => kvEventsNotes(events, outcome),
      }),
      configured: (config) => events.use(config, settings),
      endpointsChanged: (endpoints) => events.caches.follow(endpoints),
      status: (rule) => (rule === undefined ? { kvEvents: kvEventsStatus(events) } : {}),
      warnings: () => kvEventsWarnings(events),
      metrics: () => kvEventsMetrics(events),
      closed: () => events.close(),
    };
  },
  text: { router: kvEventsLines },
});
