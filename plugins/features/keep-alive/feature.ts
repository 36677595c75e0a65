import { sectionFeature } from "../../../config/feature.ts";
import type { WaitOwner } from "../../../core/contract/slots/admit.ts";
import type { Run } from "../../../core/run.ts";
import { KeepAlives } from "./keep-alive.ts";
import { keepAliveSection } from "./keep-alive-config.ts";

const EARLY =
  "Its client had got status 200 and comments before there was a response (spec.keepAlive.beforeHeadMs), so it did not get this one's head.";

/** Writes an event without meaning into event streams while their replica is silent, and their head before there is a response. */
export default sectionFeature({
  type: "keep-alive",
  summary: "Writes an event without meaning into event streams while their replica is silent.",
  section: keepAliveSection,
  create(config, host) {
    const streams = host.keep(1, () => new KeepAlives(host.clock));
    return {
      ...(config !== undefined && {
        tap: ({ ticket, dialect }: Run, response) => streams.keep(ticket.path, dialect, config, response),
      }),
      ...(config !== undefined &&
        config.beforeHeadMs > 0 && {
          admit: (run: Run, owner: WaitOwner) => void streams.waitFor(run, owner, config),
          settled: (outcome) => streams.settled(outcome),
          explain: (outcome) => (streams.wasEarly(outcome) ? [EARLY] : []),
        }),
      configured: () => streams.use(config),
      closed: () => streams.close(),
    };
  },
});
