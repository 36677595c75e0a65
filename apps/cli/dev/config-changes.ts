import type { Clock } from "../../../core/contract/clock.ts";
import type { Router } from "../../../core/router.ts";

/** How often it looks: whoever has saved a plugin wants to see at once what it does. */
const LOOK_MS = 20;

/** Calls `changed` soon after another config has begun to run. Returns what ends that. */
export function onConfigChange(router: Router, clock: Clock, changed: () => void): () => void {
  let { config } = router;
  return clock.every(LOOK_MS, () => {
    if (router.config === config) return;
    ({ config } = router);
    changed();
  });
}
