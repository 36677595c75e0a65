import { type RewriteChange, withChange, withoutChange } from "../../../config/rewrites/overlay.ts";
import { fileResources, type RewriteResource, rewriteResources } from "../../../config/rewrites/resources.ts";
import { type RewriteDocument, rewriteDocument } from "../../../config/rewrites/schema.ts";
import { z } from "../../../core/contract/options.ts";
import { Problem } from "../problem.ts";
import { deletedSchema, rewriteSchemas, shown, shownChange, weightsSchema } from "../shown-rewrite.ts";
import type { ApiSite } from "../site.ts";
import { changeRewrite, type OverlayEdit } from "./rewrite-changes.ts";
import { findResource, withWeights } from "./rewrite-edits.ts";
import { type ApiCall, type ApiResult, type ApiRoute, route } from "./route.ts";

const NAMESPACE = { name: "namespace", meaning: "The resource's namespace; needed only if two of them have the name." };
const HOW = [
  NAMESPACE,
  { name: "forSeconds", meaning: "When the change ends by itself. Default: when it is dropped." },
  { name: "write", meaning: "true: write it into the file that the resource comes from, and keep no change beside it." },
];

/** Shows the rewrites and changes them, beside the files or in them. */
export function rewriteRoutes(site: ApiSite): readonly ApiRoute[] {
  const { running, router } = site;
  const schemas = rewriteSchemas(running.loaded.sections);
  const resources = () => rewriteResources(running.loaded.texts, running.overlay);
  const show = (resource: RewriteResource) => shown(resource, resources(), router.features);
  return [
    route({
      method: "GET",
      path: "/rewrites",
      id: "listRewrites",
      summary: "The rewrites that run, and those of the files that were deleted through the admin API.",
      response: z.object({ rewrites: z.array(schemas.rewrite), deleted: z.array(deletedSchema) }),
      run: () => ({ document: { rewrites: resources().map(show), deleted: running.overlay.rewrites.flatMap(shownDeleted) } }),
    }),
    route({
      method: "GET",
      path: "/rewrites/:name",
      id: "getRewrite",
      summary: "One rewrite.",
      response: schemas.rewrite,
      query: [NAMESPACE],
      run: (call) => ({ document: show(findResource(resources(), ...nameIn(call))) }),
    }),
    route({
      method: "PUT",
      path: "/rewrites/:name",
      id: "putRewrite",
      summary: "Creates the rewrite, or replaces the one with this name.",
      body: rewriteDocument,
      query: HOW,
      response: schemas.changed,
      run: (call) => put(site, call, call.body),
    }),
    route({
      method: "PATCH",
      path: "/rewrites/:name",
      id: "weighRewrite",
      summary: "Changes weights of one rule of the rewrite.",
      body: weightsSchema,
      query: HOW,
      response: schemas.changed,
      run: (call) => edited(site, call, ({ document }) => withWeights(document, call.body)),
    }),
    route({
      method: "DELETE",
      path: "/rewrites/:name",
      id: "deleteRewrite",
      summary: "Deletes the rewrite.",
      query: HOW,
      response: schemas.changed,
      run: (call) => edited(site, call, () => undefined),
    }),
    route({
      method: "POST",
      path: "/rewrites/:name/revert",
      id: "revertRewrite",
      summary: "Drops what was changed through the admin API: what the files say applies again.",
      body: z.strictObject({}),
      query: [NAMESPACE],
      response: schemas.changed,
      run: (call) => reverted(site, call),
    }),
  ];
}

/** Each may be as long as a body, and stays in memory. */
const MOST_CHANGES = 200;

function put(site: ApiSite, call: ApiCall, document: RewriteDocument): Promise<ApiResult> {
  const [name] = nameIn(call);
  const { name: inBody, namespace = "default" } = document.metadata;
  if (inBody !== name)
    throw new Problem(400, "other_name", "metadata.name is not the name in the path; send the resource under its own name.");
  const change = newChange(call, site, namespace, document);
  const edit: OverlayEdit = (overlay) => {
    const next = withChange(overlay, change);
    if (next.rewrites.length > MOST_CHANGES)
      throw new Problem(
        409,
        "too_many_changes",
        `There are ${MOST_CHANGES} changes beside the files; write some into a file, or revert them.`,
      );
    return next;
  };
  return changeRewrite(site, call, { namespace, name, edit, isWritten: isWritten(call) });
}

/** Changes a resource that is there; `change` returns undefined to delete it. */
function edited(
  site: ApiSite,
  call: ApiCall,
  change: (resource: RewriteResource) => RewriteDocument | undefined,
): Promise<ApiResult> {
  const { running } = site;
  const { name, namespace } = findResource(rewriteResources(running.loaded.texts, running.overlay), ...nameIn(call));
  const made = newChange(call, site, namespace, undefined);
  const edit: OverlayEdit = (overlay) => {
    // By now it may be another one than that which was found.
    const { texts } = running.loaded;
    const document = change(findResource(rewriteResources(texts, overlay), name, namespace));
    const isInFiles = fileResources(texts).some((each) => each.name === name && each.namespace === namespace);
    if (document === undefined && !isInFiles) return withoutChange(overlay, namespace, name);
    return withChange(overlay, { ...made, document });
  };
  return changeRewrite(site, call, { namespace, name, edit, isWritten: isWritten(call) });
}

function reverted(site: ApiSite, call: ApiCall): Promise<ApiResult> {
  const [name, asked] = nameIn(call);
  const changes = site.running.overlay.rewrites.filter(
    (each) => each.name === name && (asked === undefined || each.namespace === asked),
  );
  const [change] = changes;
  if (change === undefined) throw new Problem(404, "unknown_change", "Nothing was changed in a rewrite of this name.");
  if (changes.length > 1) throw new Problem(400, "which_namespace", "Several namespaces have such a change; add ?namespace=.");
  const { namespace } = change;
  const edit: OverlayEdit = (overlay) => withoutChange(overlay, namespace, name);
  return changeRewrite(site, call, { namespace, name, edit, isWritten: false });
}

const nameIn = ({ params, query }: ApiCall) => [params["name"] ?? "", query.get("namespace") ?? undefined] as const;

/** Who changes what, and until when. */
function newChange(call: ApiCall, { clock }: ApiSite, namespace: string, document: RewriteChange["document"]): RewriteChange {
  const sinceMs = clock.wall();
  const forMs = forMsOf(call);
  const untilMs = forMs === undefined ? undefined : sinceMs + forMs;
  return { namespace, name: nameIn(call)[0], document, by: call.caller, sinceMs, untilMs };
}

/** Far beyond any router's life; larger numbers are no dates. */
const LONGEST_S = 1e9;

function forMsOf({ query }: ApiCall): number | undefined {
  const text = query.get("forSeconds");
  if (text === null) return undefined;
  const seconds = Number(text);
  if (seconds > 0 && seconds <= LONGEST_S) return seconds * 1000;
  throw new Problem(400, "bad_query", `forSeconds wants a number of seconds above 0, at most ${LONGEST_S}.`);
}

function isWritten({ query }: ApiCall): boolean {
  const text = query.get("write") ?? "false";
  if (text !== "true" && text !== "false") throw new Problem(400, "bad_query", "write wants true or false.");
  if (text === "true" && query.has("forSeconds"))
    throw new Problem(
      400,
      "bad_query",
      "A change that is written to its file does not end by itself; leave out forSeconds or write.",
    );
  return text === "true";
}

function shownDeleted(change: RewriteChange) {
  const { name, namespace, document } = change;
  return document === undefined ? [{ name, namespace, change: shownChange(change) }] : [];
}
