import type { ReloadReport } from "../../../config/running/running-config.ts";
import { checkVersion } from "../permission.ts";
import { Problem } from "../problem.ts";
import type { ApiSite } from "../site.ts";
import type { ApiCall } from "./route.ts";

/** Calls `make`, unless other changes came first. */
type InTurn = <Made>(make: () => Made) => Made;

/**
 * Changes the config that runs: `enqueue` puts a change into the queue that calls `inTurn` when its turn has come. Throws the
 * Problem that is met there, or one with the text `invalid` if the config can't run.
 */
export async function applyChange(
  { running }: ApiSite,
  { ifMatch }: ApiCall,
  invalid: string,
  enqueue: (inTurn: InTurn) => Promise<ReloadReport>,
): Promise<ReloadReport> {
  // The queue never rejects, and keeps only the text of what was thrown.
  let refused: Problem | undefined;
  const report = await enqueue((make) => {
    try {
      checkVersion(ifMatch, String(running.generation));
      return make();
    } catch (thrown) {
      if (thrown instanceof Problem) refused = thrown;
      throw thrown;
    }
  });
  if (refused !== undefined) throw refused;
  if (!report.isApplied) throw new Problem(422, "invalid_config", invalid, { faults: report.problems });
  return report;
}
