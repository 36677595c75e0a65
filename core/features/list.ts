import { admission } from "./admission/feature.ts";
import { auth } from "./auth/feature.ts";
import { ejection } from "./ejection/feature.ts";
import type { Feature } from "./feature.ts";
import { keepAlive } from "./keep-alive/feature.ts";
import { kubernetes } from "./kubernetes/feature.ts";
import { mirror } from "./mirror/feature.ts";
import { rollouts } from "./rollouts/feature.ts";
import { shadow } from "./shadow/feature.ts";

/** All features. One that leaves this list is gone, with its section of the config; ARCHITECTURE.md says what else names it. */
// biome-ignore format: a line for each, so that one comes or goes with its line
export const FEATURES: readonly Feature[] = [
  auth,
  admission,
  shadow,
  mirror,
  ejection,
  keepAlive,
  kubernetes,
  rollouts,
];
