import { isMapping } from "../../config/read/problems.ts";
import { KubernetesError } from "./kubernetes-error.ts";

/** What every object of the API has; the rest of it is read by whoever knows its kind. */
export interface KubernetesObject {
  readonly metadata: Metadata;
  readonly [key: string]: unknown;
}

interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly resourceVersion?: string;
  readonly [key: string]: unknown;
}

/** One page of a list. */
interface Page {
  readonly objects: readonly KubernetesObject[];
  readonly resourceVersion: string;
  /** "" on the last page. */
  readonly next: string;
}

/** One line of a watch. */
export type WatchEvent =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: KubernetesObject }
  /** How far the watch is. */
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string };

/** Throws a KubernetesError for what is no list. Entries without a name are left out. */
export function readPage(document: unknown): Page {
  if (!isMapping(document) || !Array.isArray(document["items"]) || !isMapping(document["metadata"]))
    throw new KubernetesError(0, "", "The Kubernetes API answers with something that is no list.");
  const { resourceVersion, continue: next } = document["metadata"];
  const items: readonly unknown[] = document["items"];
  return { objects: items.filter(isObject), resourceVersion: String(resourceVersion ?? ""), next: String(next ?? "") };
}

/** Undefined for an event that has no meaning here. Throws the KubernetesError that the line reports. */
export function readEvent(line: unknown): WatchEvent | undefined {
  if (!isMapping(line) || !isMapping(line["object"])) throw new KubernetesError(0, "", "A line of the watch is no event.");
  const { type, object } = line;
  if (type === "ERROR") {
    const { code, reason, message } = object as Readonly<Record<string, unknown>>;
    throw new KubernetesError(Number(code ?? 0), String(reason ?? ""), `The watch reports an error: ${String(message ?? "")}`);
  }
  const metadata: unknown = (object as Readonly<Record<string, unknown>>)["metadata"];
  if (type === "BOOKMARK") return { type, resourceVersion: isMapping(metadata) ? String(metadata["resourceVersion"] ?? "") : "" };
  if ((type === "ADDED" || type === "MODIFIED" || type === "DELETED") && isObject(object)) return { type, object };
  return undefined;
}

function isObject(value: unknown): value is KubernetesObject {
  return isMapping(value) && isMapping(value["metadata"]) && typeof value["metadata"]["name"] === "string";
}
