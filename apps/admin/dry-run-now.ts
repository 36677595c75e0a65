import { type DryRun, type DryRunRequest, dryRun } from "../../core/intake/dry-run.ts";
import type { Router } from "../../core/router.ts";

/** What would be decided about this request now; nothing is sent or booked. Throws the RouterError that the client would get. */
export function dryRunNow({ config, pool, plugins, services }: Router, asked: DryRunRequest): DryRun {
  const { clock, random } = services;
  const profile = plugins.times.untimed(config.profile);
  return dryRun(asked, config, { pool, load: pool.load.at(clock.now()), random, profile });
}
