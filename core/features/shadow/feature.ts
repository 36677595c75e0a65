import type { Feature } from "../feature.ts";
import { shadowSection } from "./shadow-config.ts";
import { shadowMetrics } from "./shadow-metrics.ts";
import { shadowStatus } from "./shadow-status.ts";
import { shadowLines, shadowRows } from "./shadow-text.ts";
import { Shadowing } from "./shadowing.ts";

/** Lets a second profile decide on the same facts, and counts where it differs. */
export const shadow: Feature = {
  section: shadowSection,
  start({ services, faults }) {
    const shadowing = new Shadowing(services.clock, faults);
    return {
      beside: shadowing,
      use: ({ features }) => shadowing.useShadow(shadowSection.of(features)),
      status: (rule) => (rule === undefined ? { shadow: shadowStatus(shadowing.counts) } : {}),
      metrics: () => shadowMetrics(shadowing.counts),
    };
  },
  text: { router: shadowLines, decision: shadowRows },
};
