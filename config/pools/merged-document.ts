import type { SectionFeature } from "../feature.ts";
import type { ConfigDocument } from "../read/documents.ts";
import { isMapping, type Path } from "../read/problems.ts";
import { INHERITED, SELECTORS } from "./schema.ts";

type Values = Readonly<Record<string, unknown>>;

/** Of spec.pool, what a Pool has from the Router document where it says nothing. */
const INHERITED_OF_POOL: readonly string[] = ["probes", "adapters"];

/**
 * A Pool document as a Router document: its own sections, and the Router document's in place of those that it leaves out. What is wrong
 * with those is told at the Pool's name, because in the Router document itself they are right.
 */
export function mergedDocument(
  pool: ConfigDocument,
  router: ConfigDocument | undefined,
  name: string,
  features: readonly SectionFeature[],
): ConfigDocument {
  const own = specOf(pool);
  const given = router === undefined ? {} : specOf(router);
  const ofFeatures = features.flatMap(({ section: { key, inPools } }) => (inPools === "inherited" ? [key] : []));
  const sections = Object.fromEntries(Object.entries(own).filter(([key]) => !SELECTORS.includes(key)));
  const spec = {
    ...picked(given, [...INHERITED, "limits", "forwardedFor", "responseHeaders", ...ofFeatures]),
    ...sections,
    pool: { ...picked(mappingAt(given, "pool"), INHERITED_OF_POOL), ...mappingAt(own, "pool"), name },
  };
  const inFile = (path: Path): Path => (isOfPool(pool, path) ? path : ["metadata", "name"]);
  return {
    file: pool.file,
    value: { apiVersion: "signalbox/v1", kind: "Router", spec },
    positionOf: (path, part) => pool.positionOf(inFile(path), part),
    report: (path, finding, part) => pool.report(inFile(path), finding, part),
  };
}

/** Whether it is for the Pool document itself to say what is at this place: else it is the Router document's. */
export function isOfPool(pool: ConfigDocument, [first, section, key]: Path): boolean {
  const own = specOf(pool);
  if (first !== "spec" || section === undefined) return true;
  if (section !== "pool") return Object.hasOwn(own, String(section));
  return key === undefined || !INHERITED_OF_POOL.includes(String(key)) || Object.hasOwn(mappingAt(own, "pool"), String(key));
}

function picked(values: Values, keys: readonly string[]): Values {
  return Object.fromEntries(keys.flatMap((key) => (Object.hasOwn(values, key) ? [[key, values[key]]] : [])));
}

function mappingAt(values: Values, key: string): Values {
  const found = values[key];
  return isMapping(found) ? found : {};
}

function specOf({ value }: ConfigDocument): Values {
  return mappingAt(isMapping(value) ? value : {}, "spec");
}
