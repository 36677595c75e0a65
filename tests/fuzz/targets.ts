import type { Target } from "./fuzz.ts";
import { body } from "./targets/body.ts";
import { chunk } from "./targets/chunk.ts";
import { config } from "./targets/config.ts";
import { head } from "./targets/head.ts";
import { ids } from "./targets/ids.ts";
import { metrics } from "./targets/metrics.ts";
import { tap } from "./targets/tap.ts";

/** Everything that reads bytes from outside. */
export const TARGETS: readonly Target[] = [head, chunk, body, ids, tap, metrics, config];
