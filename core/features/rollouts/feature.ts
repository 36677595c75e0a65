import type { Feature } from "../feature.ts";
import { guardSection } from "./guard-config.ts";
import { rolloutMetrics } from "./rollout-metrics.ts";
import { targetShape } from "./rollout-shapes.ts";
import { guardNote, guardWarning, rolloutStatus } from "./rollout-status.ts";
import { guardMark, targetLines } from "./rollout-text.ts";
import { Rollouts } from "./rollouts.ts";
import { stopThroughConfig } from "./stop-target.ts";

/** `spec.guards`. Counts what becomes of the requests to rewrites' targets; guards stop a target that is worse than another one. */
export const rollouts: Feature = {
  section: guardSection,
  start({ services: { clock, log }, facts, running }) {
    const rules = new Rollouts({ clock, log, facts, stopTarget: stopThroughConfig(running, clock) });
    return {
      use: ({ rewriters, features }) => rules.follow(rewriters, guardSection.of(features)),
      settled: (ticket) => rules.ended(ticket),
      status: (rule, target) => (rule === undefined || target === undefined ? {} : rolloutStatus(rules, rule, target)),
      notes: (rule) => rules.guardsOf(rule).flatMap(([target, state]) => guardNote(rule, target, state)),
      warnings: () =>
        rules.rules().flatMap((rule) => rules.guardsOf(rule).flatMap(([target, state]) => guardWarning(target, state))),
      metrics: ({ config }) => rolloutMetrics(rules, config.mappings),
    };
  },
  targetShape,
  text: { mark: guardMark, target: targetLines },
};
