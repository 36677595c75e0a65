import { sectionFeature } from "../../../config/feature.ts";
import type { Ticket } from "../../../core/ticket.ts";
import { mirrorSection } from "./mirror-config.ts";
import { mirrorMetrics } from "./mirror-metrics.ts";
import { mirrorsOf, mirrorWarnings } from "./mirror-status.ts";
import { mirrorLines, mirrorRows } from "./mirror-text.ts";
import { Mirroring } from "./mirroring.ts";

/** Sends copies of requests to a target whose responses are thrown away. */
export default sectionFeature({
  type: "mirror",
  summary: "Sends copies of requests to a target whose responses are thrown away.",
  section: mirrorSection,
  create(mirrors, { keep, memory }) {
    const mirroring = keep(1, () => new Mirroring());
    return {
      ...(mirrors.length > 0 && {
        copy: mirroring.sent.bind(mirroring),
        settled: (ticket: Ticket) => mirroring.settled(ticket),
      }),
      configured() {
        memory.giveUpSpare = () => mirroring.freeBodies();
        mirroring.useMirrors(mirrors);
      },
      endpointsChanged: (endpoints) => mirroring.follow(endpoints),
      status: (rule, target) =>
        rule === undefined || target !== undefined ? {} : { mirrors: mirrorsOf(mirroring.counts, rule) },
      warnings: (view) => mirrorWarnings(mirroring.counts, view),
      metrics: () => mirrorMetrics(mirroring.counts),
      stopAnnounced: () => mirroring.stop(),
      closed: () => mirroring.stop(),
    };
  },
  text: { rule: mirrorLines, decision: mirrorRows },
});
