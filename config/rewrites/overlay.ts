import { isDeepStrictEqual } from "node:util";
import { type ConfigDocument, plainDocument } from "../read/documents.ts";
import type { Problem } from "../read/problems.ts";

/** What was changed while the router runs, beside its files. Plain data. */
export interface Overlay {
  /** At most one for each resource. */
  readonly rewrites: readonly RewriteChange[];
}

/** An InferenceModelRewrite that was put or deleted. */
export interface RewriteChange extends ResourceName {
  /** The whole resource, as it would be in a file; undefined where the files' resource is deleted. */
  readonly document: Readonly<Record<string, unknown>> | undefined;
  /** Who changed it. */
  readonly by: string;
  /** In milliseconds since 1970, like `untilMs`. */
  readonly sinceMs: number;
  /** When the files' resource applies again; undefined: when somebody drops the change. */
  readonly untilMs: number | undefined;
  /** Why, in a sentence; absent where a person changed it. */
  readonly reason?: string;
  /** The files' resource that the change was made for: with any other it has no effect. Absent if the change fits every resource. */
  readonly madeFor?: unknown;
}

export const NO_OVERLAY: Overlay = { rewrites: [] };

/**
 * The rewrites of the files with the overlay's changes: a changed one stays at its place, so that the order of rules does not
 * change with it; new ones come last.
 */
export function overlaid(
  documents: readonly ConfigDocument[],
  { rewrites }: Overlay,
  problems: Problem[],
): readonly ConfigDocument[] {
  const changes = new Map(rewrites.map((change) => [keyOf(change), change]));
  const put = (change: RewriteChange) => (change.document === undefined ? [] : [documentOf(change, problems)]);
  const placed = documents.flatMap((document) => {
    const key = keyOf(nameOf(document.value));
    const change = changes.get(key);
    if (change === undefined) return [document];
    changes.delete(key);
    return isOutdated(change, document.value) ? [document] : put(change);
  });
  const others = [...changes.values()].filter((change) => !isOutdated(change, undefined));
  return [...placed, ...others.flatMap(put)];
}

/** Whether the files' resource is no longer the one that the change was made for. */
export function isOutdated({ madeFor }: RewriteChange, inFiles: unknown): boolean {
  return madeFor !== undefined && !isDeepStrictEqual(madeFor, inFiles);
}

/** The overlay with this change in place of an earlier one of the same resource. */
export function withChange(overlay: Overlay, change: RewriteChange): Overlay {
  return { ...overlay, rewrites: [...withoutChange(overlay, change.namespace, change.name).rewrites, change] };
}

/** The overlay without any change of this resource. */
export function withoutChange(overlay: Overlay, namespace: string, name: string): Overlay {
  return { ...overlay, rewrites: overlay.rewrites.filter((each) => each.namespace !== namespace || each.name !== name) };
}

function documentOf({ name, document }: RewriteChange, problems: Problem[]): ConfigDocument {
  return plainDocument(`admin API, InferenceModelRewrite ${JSON.stringify(name)}`, document, problems);
}

/** Names one resource; "default" is the namespace of one that names none. */
export interface ResourceName {
  readonly namespace: string;
  readonly name: string;
}

/** The name in the document. A document without one is reported elsewhere; its name here is that of no resource. */
export function nameOf(document: unknown): ResourceName {
  const { name, namespace = "default" } = (document as { metadata?: Partial<ResourceName> | null }).metadata ?? {};
  return { namespace, name: name as string };
}

/** The same for two names of one resource. */
export const keyOf = ({ namespace, name }: ResourceName): string => JSON.stringify([namespace, name]);
