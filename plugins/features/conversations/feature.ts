import { sectionFeature } from "../../../config/feature.ts";
import type { Run } from "../../../core/run.ts";
import { Conversations } from "./conversations.ts";
import { conversationsSection } from "./conversations-config.ts";
import { conversationLines, conversationMetrics, conversationsStatus } from "./conversations-shown.ts";

const NO_WORKERS =
  "spec.conversations holds conversations in one process, so a request that reaches another worker would not find its own: start the router without --workers, or take spec.conversations out.";

/** Continues conversations by previous_response_id on engines that keep no responses. */
export default sectionFeature({
  type: "conversations",
  summary: "Continues conversations by previous_response_id on engines that keep no responses.",
  section: conversationsSection,
  create(config, host) {
    if (config !== undefined && host.workers !== undefined) throw new Error(NO_WORKERS);
    const conversations = host.keep(1, () => new Conversations(host.clock));
    return {
      ...(config !== undefined && {
        admit: (run, owner) => conversations.admit(run as Run, owner),
        tap: (run, response) => conversations.tap(run, response),
        settled: (outcome) => conversations.settled(outcome),
        explain: (outcome) => conversations.explain(outcome),
      }),
      configured: () => conversations.use(config),
      status: (rule) => (rule === undefined ? { conversations: conversationsStatus(conversations) } : {}),
      metrics: () => conversationMetrics(conversations),
      closed: () => conversations.close(),
    };
  },
  text: { router: conversationLines, top: conversationLines },
});
