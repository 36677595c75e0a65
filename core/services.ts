import type { Clock } from "./contract/clock.ts";
import type { Log } from "./contract/log.ts";
import type { Random } from "./contract/profile-plugin.ts";

/** What all parts of a router are handed. */
export interface Services {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}
