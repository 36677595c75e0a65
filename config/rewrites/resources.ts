import type { Position } from "../../core/router-config.ts";
import { type ConfigDocument, documentsOf } from "../read/documents.ts";
import type { ConfigText } from "../read/files.ts";
import { sortByKind } from "../read/kinds.ts";
import { isOutdated, nameOf, type Overlay, overlaid, type ResourceName, type RewriteChange } from "./overlay.ts";
import type { RewriteDocument } from "./schema.ts";

/** One InferenceModelRewrite of a config that runs. */
export interface RewriteResource extends ResourceName {
  readonly document: RewriteDocument;
  /** Its place in the files; undefined if it is in none. */
  readonly position: Position | undefined;
  /** Set if it is not, or not only, what the files say. */
  readonly change: RewriteChange | undefined;
}

/** All resources that a valid config runs with, in file order, and those that only the overlay has. */
export function rewriteResources(texts: readonly ConfigText[], overlay: Overlay): readonly RewriteResource[] {
  const inFiles = fileResources(texts);
  const sources = inFiles.map(({ source }) => source);
  return overlaid(sources, overlay, []).map((source) => {
    const document = source.value as RewriteDocument;
    const { namespace, name } = nameOf(document);
    const position = inFiles.find((each) => each.name === name && each.namespace === namespace)?.position;
    return { namespace, name, document, position, change: changeOf(namespace, name, overlay) };
  });
}

/** The overlay's change of this resource. */
export function changeOf(namespace: string, name: string, { rewrites }: Overlay): RewriteChange | undefined {
  return rewrites.find((change) => change.namespace === namespace && change.name === name);
}

/** The overlay without the changes whose resource in the files is another one by now, or gone. */
export function upToDate(overlay: Overlay, texts: readonly ConfigText[]): Overlay {
  if (overlay.rewrites.every(({ madeFor }) => madeFor === undefined)) return overlay;
  const inFiles = fileResources(texts);
  const rewrites = overlay.rewrites.filter((change) => {
    const own = inFiles.find(({ namespace, name }) => namespace === change.namespace && name === change.name);
    return !isOutdated(change, own?.source.value);
  });
  return { ...overlay, rewrites };
}

interface FileResource extends ResourceName {
  readonly source: ConfigDocument;
  readonly position: Position;
}

/** The resources of the files, without the overlay. */
export function fileResources(texts: readonly ConfigText[]): readonly FileResource[] {
  const documents = sortByKind(texts.flatMap((text) => documentsOf(text, []))).InferenceModelRewrite;
  return documents.map((source) => ({ ...nameOf(source.value), source, position: source.positionOf([]) }));
}
