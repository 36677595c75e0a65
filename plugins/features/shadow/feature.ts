import { sectionFeature } from "../../../config/feature.ts";
import { shadowSection } from "./shadow-config.ts";
import { shadowMetrics } from "./shadow-metrics.ts";
import { shadowStatus } from "./shadow-status.ts";
import { shadowLines, shadowRows } from "./shadow-text.ts";
import { Shadowing } from "./shadowing.ts";

/** Lets a second profile decide on the same facts, and counts where it differs. */
export default sectionFeature({
  type: "shadow",
  summary: "Lets a second profile decide on the same facts, and counts where it differs.",
  section: shadowSection,
  create(config, { keep, clock, faults }) {
    const shadowing = keep(1, () => new Shadowing(clock, faults));
    return {
      ...(config !== undefined && { compare: shadowing.decide.bind(shadowing) }),
      configured: () => shadowing.useShadow(config),
      status: (rule) => (rule === undefined ? { shadow: shadowStatus(shadowing.counts) } : {}),
      metrics: () => shadowMetrics(shadowing.counts),
    };
  },
  text: { router: shadowLines, decision: shadowRows },
});
