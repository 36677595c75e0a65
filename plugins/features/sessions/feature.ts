import { sectionFeature } from "../../../config/feature.ts";
import type { Feature } from "../../../core/contract/feature.ts";
import type { Run } from "../../../core/run.ts";
import { GatedLine } from "./gate/gated-line.ts";
import { CHAINED_KEY, SessionIds } from "./session-ids.ts";
import { Sessions } from "./sessions.ts";
import { sessionsSection } from "./sessions-config.ts";
import { sessionMetrics } from "./sessions-metrics.ts";
import { gateWarnings, sessionsStatus } from "./sessions-status.ts";
import { sessionLines, sessionRows } from "./sessions-text.ts";
import { SharedSessions } from "./shared-sessions.ts";

/** Learns which requests are turns of one session. */
export default sectionFeature({
  type: "sessions",
  summary: "Learns which requests are turns of one session of an agent, and shows who is on which replica.",
  section: sessionsSection,
  create(config, host) {
    const { sessions, line, shared } = host.keep(1, () => {
      const [line, sessions] = [new GatedLine(host), new Sessions(host.clock)];
      return { line, sessions, shared: new SharedSessions(sessions, line, host.clock) };
    });
    return {
      ...(config !== undefined && slotsOf(sessions, line, new SessionIds(config))),
      shared,
      configured: ({ settings }) => {
        sessions.use(config, settings.prefixSecret);
        line.use(config?.gate === true ? config.gateMaxWaitMs : undefined);
      },
      endpointsChanged: (endpoints) => {
        line.follow(endpoints);
        shared.follow(endpoints);
      },
      status: (rule) => (rule === undefined ? { sessions: sessionsStatus(sessions, line, host.clock.now()) } : {}),
      warnings: ({ pool }) => (config?.gate === true ? gateWarnings(pool.endpoints, host.load.cacheTokens) : []),
      metrics: () => sessionMetrics(sessions, line),
      closed: () => {
        line.close();
        sessions.close();
      },
    };
  },
  text: { router: sessionLines, top: sessionLines, decision: sessionRows },
});

function slotsOf(sessions: Sessions, line: GatedLine, ids: SessionIds): Feature {
  return {
    bodyKeys: ids.bodyKeys,
    admit(run, owner) {
      const session = sessions.arrived(run as Run, ids);
      return session && line.enter(session, run as Run, owner);
    },
    ...(ids.bodyKeys.includes(CHAINED_KEY) && { tap: (run, response) => sessions.tap(run, response) }),
    settled(outcome) {
      sessions.settled(outcome);
      line.settled(outcome);
    },
  };
}
