import { sectionFeature } from "../../../config/feature.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { endpointsElsewhere } from "../../../core/slots.ts";
import type { Ticket } from "../../../core/ticket.ts";
import { guardSection } from "./guard-config.ts";
import { rolloutMetrics } from "./rollout-metrics.ts";
import { targetShape } from "./rollout-shapes.ts";
import { guardNote, guardWarning, rolloutStatus } from "./rollout-status.ts";
import { guardMark, targetLines } from "./rollout-text.ts";
import { Rollouts } from "./rollouts.ts";
import { stopThroughConfig } from "./stop-target.ts";

/** `spec.guards`. Counts what becomes of the requests to rewrites' targets; guards stop a target that is worse than another one. */
export default sectionFeature({
  type: "rollouts",
  summary: "Counts what becomes of the requests to rewrites' targets; guards stop a target that is worse than another one.",
  section: guardSection,
  create(guards, { keep, clock, log, facts, running }) {
    let elsewhere: () => readonly Endpoint[] = () => [];
    const endpoints = () => [...facts().endpoints, ...elsewhere()];
    const rules = keep(1, () => new Rollouts({ clock, log, stopTarget: stopThroughConfig(running, clock) }));
    return {
      configured({ rewriters, modules }) {
        elsewhere = () => endpointsElsewhere(modules);
        rules.follow(rewriters, guards, endpoints);
      },
      settled: (ticket: Ticket) => rules.ended(ticket),
      shared: rules.shared,
      status: (rule, target) => (rule === undefined || target === undefined ? {} : rolloutStatus(rules, rule, target)),
      notes: (rule) => rules.guardsOf(rule).flatMap(([target, state]) => guardNote(rule, target, state)),
      warnings: () =>
        rules.rules().flatMap((rule) => rules.guardsOf(rule).flatMap(([target, state]) => guardWarning(target, state))),
      metrics: ({ config }) => rolloutMetrics((rule, target) => rolloutStatus(rules, rule, target), config.mappings),
    };
  },
  targetShape,
  text: { mark: guardMark, target: targetLines },
});
