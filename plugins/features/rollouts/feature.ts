import { sectionFeature } from "../../../config/feature.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { poolsFeature } from "../../../core/pools-feature.ts";
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
    const rules = keep(1, () => new Rollouts({ clock, log, stopTarget: stopThroughConfig(running, clock) }));
    return {
      configured(config) {
        const pools = poolsFeature(config);
        const inPool = (pool: string): readonly Endpoint[] =>
          pool === config.pool ? facts().endpoints : (pools?.routersOfPools.get(pool)?.pool.facts.endpoints ?? []);
        rules.follow(config.rewriters, guards, {
          endpoints: (pool) =>
            pool === undefined ? [...facts().endpoints, ...endpointsElsewhere(config.modules)] : inPool(pool),
          meantFor: (outcome) => pools?.meantFor(outcome),
        });
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
