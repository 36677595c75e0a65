import { RELOAD_CAUSES } from "../../../config/running/reload-cause.ts";
import { effectiveConfig } from "../../../config/show/effective.ts";
import { z } from "../../../core/contract/options.ts";
import { Problem } from "../problem.ts";
import type { ApiSite } from "../site.ts";
import { type ApiRoute, route } from "./route.ts";

export const reloadSchema = z.object({
  time: z.string().describe("ISO 8601."),
  cause: z.enum(RELOAD_CAUSES),
  isApplied: z.boolean(),
  generation: z.int().describe("Of the config that runs after it."),
  problems: z.array(z.string()),
  changes: z.array(z.string()),
});

const configSchema = z.object({
  generation: z.int(),
  sources: z.array(z.string()),
  router: z.looseObject({ spec: z.looseObject({}) }).describe("The Router document with every default filled in."),
  origins: z.record(z.string(), z.string()).describe("Where each value comes from, by its path."),
  pools: z
    .array(z.object({ document: z.looseObject({ spec: z.looseObject({}) }), origins: z.record(z.string(), z.string()) }))
    .describe("The same of the Pool documents."),
  lastReload: reloadSchema.nullable(),
});

/** Shows the config that runs, and reads the files again. */
export function configRoutes(site: ApiSite): readonly ApiRoute[] {
  const { running } = site;
  return [
    route({
      method: "GET",
      path: "/config",
      id: "getConfig",
      summary: "The config that runs, with the origin of each value; GET rewrites has the rewrites. Secrets are not in it.",
      response: configSchema,
      run: () => ({
        document: {
          generation: running.generation,
          sources: site.sources,
          ...effectiveConfig(running.loaded, site.commandLine),
          lastReload: running.lastReload === undefined ? null : shownReload(running.lastReload),
        },
      }),
    }),
    route({
      method: "POST",
      path: "/config/reload",
      id: "reloadConfig",
      summary: "Reads the files again. The next config runs whole or not at all.",
      body: z.strictObject({}),
      response: reloadSchema,
      async run({ caller }) {
        const before = running.generation;
        const report = await running.reload("api", caller);
        if (!report.isApplied)
          throw new Problem(422, "invalid_config", "The files have problems, so the config before runs on; see faults.", {
            faults: report.problems,
          });
        return { document: shownReload(report), change: { what: "config", before, after: report.generation } };
      },
    }),
  ];
}

export function shownReload({ atMs, ...report }: NonNullable<ApiSite["running"]["lastReload"]>) {
  return { time: new Date(atMs).toISOString(), ...report };
}
