import type { Generation } from "../../../config/running/config-history.ts";
import { RELOAD_CAUSES } from "../../../config/running/reload-cause.ts";
import { z } from "../../../core/contract/options.ts";
import { Problem } from "../problem.ts";
import type { ApiSite } from "../site.ts";
import { applyChange } from "./apply-change.ts";
import { reloadSchema, shownReload } from "./config.ts";
import { restorableFiles, writeGeneration } from "./restored-files.ts";
import { type ApiCall, type ApiResult, type ApiRoute, route } from "./route.ts";

const generationSchema = z.object({
  generation: z.int(),
  time: z.string().describe("ISO 8601."),
  cause: z.enum(["start", ...RELOAD_CAUSES]),
  by: z.string().describe("Who asked for it; empty where no person did."),
  changes: z.array(z.string()).describe("What it changed, in words."),
  restored: z.int().nullable().describe("The earlier generation that it is made of."),
});

export const historySchema = z.object({
  generation: z.int().describe("That runs."),
  restored: z.int().nullable().describe("The earlier generation that runs instead of what the files say."),
  generations: z.array(generationSchema).describe("The newest first; older ones are forgotten."),
});

const rollbackBody = z.strictObject({
  generation: z.int().min(1).describe("The one to run again."),
  write: z.boolean().default(false).describe("Whether the config files get the texts that they had then."),
});

export const rolledBackSchema = reloadSchema.extend({
  written: z.array(z.string()).describe("Files that got their earlier text."),
});

/** Shows the generations of the config, and lets an earlier one run again. */
export function historyRoutes(site: ApiSite): readonly ApiRoute[] {
  const { running } = site;
  return [
    route({
      method: "GET",
      path: "/config/history",
      id: "getConfigHistory",
      summary: "The last generations of the config, in memory since the start: when, by whom, what changed.",
      response: historySchema,
      run: () => ({
        document: {
          generation: running.generation,
          restored: running.restored ?? null,
          generations: running.history.generations.map(shown).toReversed(),
        },
      }),
    }),
    route({
      method: "POST",
      path: "/config/rollback",
      id: "rollBackConfig",
      summary: "Lets an earlier generation run again, whole or not at all, until the files are read the next time.",
      body: rollbackBody,
      response: rolledBackSchema,
      run: (call) => rollBack(site, call, call.body),
    }),
  ];
}

function shown({ generation, atMs, cause, by, changes, restored }: Generation) {
  return { generation, time: new Date(atMs).toISOString(), cause, by, changes, restored: restored ?? null };
}

async function rollBack(site: ApiSite, call: ApiCall, { generation, write }: z.infer<typeof rollbackBody>): Promise<ApiResult> {
  const { running } = site;
  const before = running.generation;
  const chosen = found(site, generation);
  const files = write ? restorableFiles(site, chosen) : [];
  const invalid = `Generation ${generation} can't run any more, so nothing was changed; see faults.`;
  const report = await applyChange(site, call, invalid, (inTurn) => running.restore(() => inTurn(() => chosen), call.caller));
  site.overlayExpiry.follow();
  const written = write ? await writeGeneration(site, files, call.caller) : [];
  const change = { what: `config: back to generation ${generation}`, before, after: report.generation };
  return { document: { ...shownReload(report), written }, change };
}

function found({ running: { history } }: ApiSite, generation: number): Generation {
  const chosen = history.find(generation);
  if (chosen !== undefined) return chosen;
  const kept = history.generations.map((each) => each.generation).join(", ");
  throw new Problem(404, "unknown_generation", `Generation ${generation} is not kept; there are ${kept}.`);
}
