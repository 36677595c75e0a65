import { sectionFeature } from "../../../config/feature.ts";
import type { Run } from "../../../core/run.ts";
import { admissionSection } from "./admission-config.ts";
import { admissionMetrics } from "./admission-metrics.ts";
import { admissionStatus } from "./admission-status.ts";
import { lineLines, waitRows } from "./admission-text.ts";
import { PRIORITY_KEY, tellEngine } from "./engine-priority.ts";
import { WaitingLine } from "./waiting-line.ts";

/** Lets requests wait at the router while no replica has room for them. */
export default sectionFeature({
  type: "admission",
  summary: "Lets requests wait at the router while no replica has room for them.",
  section: admissionSection,
  create(config, host) {
    const line = host.keep(1, () => new WaitingLine(host));
    return {
      ...(config !== undefined && {
        ...(config.enginePriority !== "off" && { bodyKeys: [PRIORITY_KEY] }),
        admit(run: Run, owner) {
          if (run.parsed!.isLookup === true) return undefined;
          if (config.enginePriority !== "off") tellEngine(run, config);
          // Another config may have closed the line since the request came.
          return line.isOn ? line.enter(run, owner) : undefined;
        },
        admitAgain: (run: Run, owner) => (line.isOn ? line.enterAgain(run, owner) : undefined),
      }),
      configured: (active) => line.use(active),
      endpointsChanged: (endpoints) => line.follow(endpoints),
      settled: ({ request, wait, usage, outputTokens }) =>
        line.settled(request?.model ?? "", wait, usage?.promptTokens ?? request?.promptTokens ?? 0, outputTokens),
      status: (rule) => (rule === undefined ? { admission: admissionStatus(line, host.clock.now()) } : {}),
      metrics: () => admissionMetrics(line),
      closed: () => line.close(),
    };
  },
  text: { router: lineLines, top: lineLines, decision: waitRows },
});
