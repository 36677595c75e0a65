import type { GuardConfig } from "../../../../plugins/features/rollouts/guard-config.ts";

/** A guard of the target v2 against v1, of the rule food/0. */
export const GUARD: GuardConfig = {
  name: "food/0 v2",
  rule: "food/0",
  target: "v2",
  against: "v1",
  place: { namespace: "default", resource: "food", index: 0 },
  stickyHeader: "",
  worseBy: { errorRate: 0.02, ttft: undefined },
  confidence: 0.95,
  minRequests: 20,
  isAnnotation: false,
};
