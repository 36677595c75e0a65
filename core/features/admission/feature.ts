import type { Feature } from "../feature.ts";
import { admissionSection } from "./admission-config.ts";
import { admissionMetrics } from "./admission-metrics.ts";
import { admissionStatus } from "./admission-status.ts";
import { lineLines, waitRows } from "./admission-text.ts";
import { WaitingLine } from "./waiting-line.ts";

/** Lets requests wait at the router while no replica has room for them. */
export const admission: Feature = {
  section: admissionSection,
  start(host) {
    const line = new WaitingLine(host);
    return {
      admitter: line,
      use: (config) => line.use(config),
      follow: (endpoints) => line.follow(endpoints),
      settled: ({ request, wait, usage, outputTokens }) =>
        line.settled(request?.model ?? "", wait, usage?.promptTokens ?? request?.promptTokens ?? 0, outputTokens),
      status: (rule) => (rule === undefined ? { admission: admissionStatus(line, host.services.clock.now()) } : {}),
      metrics: () => admissionMetrics(line),
      close: () => line.close(),
    };
  },
  text: { router: lineLines, top: lineLines, decision: waitRows },
};
