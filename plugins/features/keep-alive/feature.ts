import { sectionFeature } from "../../../config/feature.ts";
import type { Run } from "../../../core/run.ts";
import { KeepAlives } from "./keep-alive.ts";
import { keepAliveSection } from "./keep-alive-config.ts";

/** Writes an event without meaning into event streams while their replica is silent. */
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
      configured: () => streams.use(config),
      closed: () => streams.close(),
    };
  },
});
