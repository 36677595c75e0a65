import { z } from "../../../core/contract/options.ts";
import type { Router } from "../../../core/router.ts";
import { endpointSchema } from "../endpoint-schema.ts";
import { allPools } from "../pool-sites.ts";
import { Problem } from "../problem.ts";
import { shownEndpoints } from "../shown-endpoints.ts";
import type { ApiSite, ViewedSite } from "../site.ts";
import { type ApiResult, type ApiRoute, route } from "./route.ts";

/** Longest time that a timer can be set to, in seconds. */
const LONGEST_S = 2_147_483;
/** The grace of a drain where responses carry session tokens. */
const SESSION_GRACE_S = 30;

const seconds = (min: number) => z.number().min(min).max(LONGEST_S);

const wish = z.strictObject({
  reason: z.string().max(200).default("").describe("Why; shown in the status and logged."),
  forSeconds: seconds(0.001).describe("When it ends by itself. Default: when it is undone.").exactOptional(),
});

const drainWish = wish.extend({
  graceSeconds: seconds(0)
    .describe(`How long sessions on it go on. Default ${SESSION_GRACE_S} if responses carry session tokens, else 0.`)
    .exactOptional(),
});

/** Shows the endpoints, and takes what operators want of them. */
export function endpointRoutes(site: ApiSite): readonly ApiRoute[] {
  // What operators want of endpoints is no part of the config.
  const version = () => {
    const revisions = allPools(site).map(({ site: { router } }) => router.control.intents.revision);
    return `${site.running.generation}-${revisions.join("-")}`;
  };
  return [
    route({
      method: "GET",
      path: "/endpoints",
      id: "listEndpoints",
      version,
      summary: "The replicas of the pool, as the router sees them.",
      response: z.object({ endpoints: z.array(endpointSchema) }),
      run: () => ({ document: { endpoints: [...shownEndpoints(site)] } }),
    }),
    route({
      method: "POST",
      path: "/endpoints/:name/drain",
      id: "drainEndpoint",
      version,
      summary: "No new requests; those under way finish, and its sessions go on for a grace.",
      body: drainWish,
      response: endpointSchema,
      run: ({ params, body, caller }) =>
        changed(site, params["name"] ?? "", (name, intents) => {
          const grace = body.graceSeconds ?? (issuesSessions(site) ? SESSION_GRACE_S : 0);
          const { reason, forSeconds } = body;
          intents.set(name, { intent: "drain", reason, by: caller, forMs: inMs(forSeconds), graceMs: grace * 1000 });
        }),
    }),
    route({
      method: "POST",
      path: "/endpoints/:name/cordon",
      id: "cordonEndpoint",
      version,
      summary: "No new requests but those for a model that no available endpoint serves.",
      body: wish,
      response: endpointSchema,
      run: ({ params, body: { reason, forSeconds }, caller }) =>
        changed(site, params["name"] ?? "", (name, intents) =>
          intents.set(name, { intent: "cordon", reason, by: caller, forMs: inMs(forSeconds), graceMs: 0 }),
        ),
    }),
    route({
      method: "POST",
      path: "/endpoints/:name/undrain",
      id: "undrainEndpoint",
      version,
      summary: "Ends a drain or a cordon: the endpoint serves again.",
      body: z.strictObject({}),
      response: endpointSchema,
      run: ({ params, caller }) =>
        changed(site, params["name"] ?? "", (name, intents) => intents.clear(name, `${caller || "an operator"} asked for it`)),
    }),
  ];
}

const inMs = (inSeconds: number | undefined) => (inSeconds === undefined ? undefined : inSeconds * 1000);

/** The log of the replicas tells of it. */
function changed(site: ApiSite, name: string, change: (name: string, intents: Router["control"]["intents"]) => void): ApiResult {
  const { router } = poolOf(site, name);
  change(name, router.control.intents);
  poolOf(site, name);
  return { document: shownEndpoints(site).find((each) => each.name === name)! };
}

/** The pool that has the endpoint. */
function poolOf(site: ApiSite, name: string): ViewedSite {
  const pools = allPools(site);
  const found = pools.find((pool) => pool.site.router.pool.facts.endpoints.some((each) => each.name === name));
  if (found !== undefined) return found.site;
  const names = shownEndpoints(site)
    .slice(0, 8)
    .map((each) => each.name);
  throw new Problem(404, "unknown_endpoint", `The pool has no endpoint of this name; it has ${names.join(", ") || "none"}.`);
}

/** Whether responses carry something that brings a client back to its endpoint. */
function issuesSessions({ router }: ApiSite): boolean {
  return router.config.profile.responseHeaders.length > 0;
}
