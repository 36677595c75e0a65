import { type Overlay, withoutChange } from "../../../config/rewrites/overlay.ts";
import { changeOf, fileResources, type RewriteResource, rewriteResources } from "../../../config/rewrites/resources.ts";
import type { RewriteDocument } from "../../../config/rewrites/schema.ts";
import { writeRewrite } from "../../../config/rewrites/write-file.ts";
import { thrownMessage } from "../../../core/contract/thrown-text.ts";
import { Problem } from "../problem.ts";
import { shown } from "../shown-rewrite.ts";
import type { ApiSite } from "../site.ts";
import { applyChange } from "./apply-change.ts";
import type { ApiCall, ApiResult } from "./route.ts";

const INVALID = "The config would not be valid with this change, so nothing was changed; see faults.";

export type OverlayEdit = (overlay: Overlay) => Overlay;

/** One resource, and how it is changed. */
export interface RewriteEdit {
  readonly namespace: string;
  readonly name: string;
  readonly edit: OverlayEdit;
  /** Whether the change goes into the file. */
  readonly isWritten: boolean;
}

/** Changes one rewrite of the config that runs. Throws Problem, and changes nothing, if the config would not be valid. */
export async function changeRewrite(site: ApiSite, call: ApiCall, change: RewriteEdit): Promise<ApiResult> {
  const { name, edit, isWritten } = change;
  const before = resourceNow(resourcesNow(site), change);
  if (isWritten) checkWritable(site);
  await applyChange(site, call, INVALID, (inTurn) =>
    site.running.change((overlay) => inTurn(() => edit(overlay)), "api", call.caller),
  );
  const written = isWritten ? await write(site, call, change) : null;
  site.overlayExpiry.follow();
  const all = resourcesNow(site);
  const after = resourceNow(all, change);
  const rewrite = after === undefined ? null : shown(after, all, site.router.features);
  return {
    document: { rewrite, written },
    change: { what: `rewrite ${name}`, before: before?.document.spec ?? null, after: after?.document.spec ?? null },
  };
}

function resourcesNow({ running }: ApiSite): readonly RewriteResource[] {
  return rewriteResources(running.loaded.texts, running.overlay);
}

function resourceNow(resources: readonly RewriteResource[], { namespace, name }: RewriteEdit): RewriteResource | undefined {
  return resources.find((each) => each.name === name && each.namespace === namespace);
}

/** To write is to read the files again, which would end a rollback unasked. */
function checkWritable({ running: { generation, restored } }: ApiSite): void {
  if (restored === undefined) return;
  const detail = `Generation ${restored} runs instead of the files: write it into them first (config rollback ${generation} --write), read them again (reload), or leave out write.`;
  throw new Problem(409, "rolled_back", detail);
}

/** Moves the change from the overlay to the resource's file. Returns the file; null if there is no change to write. */
async function write({ running }: ApiSite, { caller }: ApiCall, { namespace, name }: RewriteEdit): Promise<string | null> {
  const change = changeOf(namespace, name, running.overlay);
  if (change === undefined) return null;
  const { texts } = running.loaded;
  const inFile = fileResources(texts).find((each) => each.name === name && each.namespace === namespace);
  const file = inFile?.position.file ?? texts.findLast(({ resource }) => resource === undefined)?.file ?? "";
  const [before, after] = [inFile?.source.value, change.document] as (RewriteDocument | undefined)[];
  await writeRewrite(file, { namespace, name }, before, after).catch((thrown: unknown) => {
    const cause = thrownMessage(thrown);
    throw new Problem(409, "not_written", `The change runs, but was not written. ${cause}.`);
  });
  // First the files, which now say the same, then the overlay: what runs never goes back.
  const { isApplied } = await running.reload("api", caller);
  if (isApplied) await running.change((overlay) => withoutChange(overlay, namespace, name), "api", caller);
  return file;
}
