import type { Feature } from "../feature.ts";
import { mirrorSection } from "./mirror-config.ts";
import { mirrorMetrics } from "./mirror-metrics.ts";
import { mirrorsOf, mirrorWarnings } from "./mirror-status.ts";
import { mirrorLines, mirrorRows } from "./mirror-text.ts";
import { Mirroring } from "./mirroring.ts";

/** Sends copies of requests to a target whose responses are thrown away. */
export const mirror: Feature = {
  section: mirrorSection,
  start({ memory }) {
    const mirroring = new Mirroring();
    memory.giveUpSpare = () => mirroring.freeBodies();
    return {
      copier: mirroring,
      use: ({ features }) => mirroring.useMirrors(mirrorSection.of(features)),
      follow: (endpoints) => mirroring.follow(endpoints),
      settled: (ticket) => mirroring.settled(ticket),
      status: (rule, target) =>
        rule === undefined || target !== undefined ? {} : { mirrors: mirrorsOf(mirroring.counts, rule) },
      warnings: (view) => mirrorWarnings(mirroring.counts, view),
      metrics: () => mirrorMetrics(mirroring.counts),
      stop: () => mirroring.stop(),
      close: () => mirroring.stop(),
    };
  },
  text: { rule: mirrorLines, decision: mirrorRows },
};
