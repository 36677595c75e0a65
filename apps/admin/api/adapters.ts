import { z } from "../../../core/contract/options.ts";
import { type AdapterChange, changeSchema, placesSchema } from "../../../core/control/adapters.ts";
import { Problem } from "../problem.ts";
import type { ApiSite } from "../site.ts";
import { AdaptersOfPools } from "./adapters-of-pools.ts";
import { type ApiResult, type ApiRoute, route } from "./route.ts";

const LONGEST_NAME = 512;

const endpoint = z.string().min(1).describe("Only at this endpoint. Default: at all in service.").exactOptional();
const pool = z.string().min(1).describe("Only in this pool. Default: in all.").exactOptional();

const changes = z.object({ changes: z.array(changeSchema) });

/** Shows which replicas have which adapters, and has them load and unload. */
export function adapterRoutes({ router }: ApiSite): readonly ApiRoute[] {
  const adapters = new AdaptersOfPools(router);
  return [
    route({
      method: "GET",
      path: "/adapters",
      id: "listAdapters",
      summary: "The adapters that replicas list, and the targets of rewrites, with the replicas that have them.",
      response: z.object({ adapters: z.array(placesSchema) }),
      run: () => ({ document: { adapters: adapters.list() } }),
    }),
    route({
      method: "POST",
      path: "/adapters/:name/load",
      id: "loadAdapter",
      summary: "Has replicas load an adapter.",
      body: z.strictObject({
        path: z.string().min(1).describe("Where the replica finds it. Default: where it finds adapters by name.").exactOptional(),
        endpoint,
        pool,
      }),
      response: changes,
      run: ({ params, body }) => changed(params["name"], "load", (name) => adapters.load(name, body)),
    }),
    route({
      method: "POST",
      path: "/adapters/:name/unload",
      id: "unloadAdapter",
      summary: "Has the replicas that list an adapter unload it, which frees its memory at once.",
      body: z.strictObject({ endpoint, pool }),
      response: changes,
      run: ({ params, body }) => changed(params["name"], "unload", (name) => adapters.unload(name, body)),
    }),
  ];
}

async function changed(
  name = "",
  action: "load" | "unload",
  change: (name: string) => Promise<readonly AdapterChange[]>,
): Promise<ApiResult> {
  if (name === "" || name.length > LONGEST_NAME)
    throw new Problem(400, "bad_name", `Name an adapter, with at most ${LONGEST_NAME} characters.`);
  const done = await change(name);
  if (done.length === 0) throw nobody(action);
  if (action === "unload" && done.every(({ isDone, status }) => isDone && status !== 200)) throw nobody(action);
  return { document: { changes: done }, change: { what: `adapter ${name}`, before: null, after: { action, changes: done } } };
}

function nobody(action: "load" | "unload"): Problem {
  return action === "load"
    ? new Problem(503, "no_replica", "No replica is in service that could load it; try again when one is.")
    : new Problem(404, "not_loaded", "No replica that was asked has this adapter; GET /api/v1/adapters shows who has what.");
}
