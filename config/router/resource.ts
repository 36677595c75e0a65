import type { ConfigDocument } from "../read/documents.ts";
import { isMapping, type Path } from "../read/problems.ts";

/** Sections that a router needs before it reaches a cluster, and that can't change while it runs. */
export const OF_FILES: readonly string[] = ["listen", "admin", "kubernetes"];

/**
 * The files' Router document and the cluster's as one. Each section of the spec is in one of the two. Paths in it are relative to the
 * file, since a resource has no folder.
 */
export function withResource(inFile: ConfigDocument, resource: ConfigDocument): ConfigDocument {
  const [own, added] = [specOf(inFile), specOf(resource)];
  for (const key of Object.keys(added)) {
    if (OF_FILES.includes(key))
      resource.report(["spec", key], { found: `spec.${key} in a resource`, wanted: `it in ${inFile.file}` });
    else if (Object.hasOwn(own, key))
      resource.report(["spec", key], { found: `spec.${key}, which ${inFile.file} has too`, wanted: "each section in one place" });
  }
  const placeOf = ([first, second]: Path) =>
    first === "spec" && Object.hasOwn(added, String(second)) && !Object.hasOwn(own, String(second)) ? resource : inFile;
  return {
    file: inFile.file,
    value: { ...(inFile.value as object), spec: { ...added, ...own } },
    positionOf: (path, part) => placeOf(path).positionOf(path, part),
    report: (path, finding, part) => placeOf(path).report(path, finding, part),
  };
}

function specOf({ value }: ConfigDocument): Readonly<Record<string, unknown>> {
  const { spec } = value as { readonly spec?: unknown };
  return isMapping(spec) ? spec : {};
}
