import type { ConfigDocument } from "./documents.ts";
import { describe, describeKind, didYouMean, isMapping, quoted, unknownKey } from "./problems.ts";

type Kind = "Router" | "Pool" | "InferenceModelRewrite" | "InferenceObjective" | "EndpointPickerConfig";

/** The second one is for clusters, whose API groups have a dot. */
export const ROUTER_VERSIONS = ["signalbox/v1", "signalbox.dev/v1"] as const;
/** Of InferenceModelRewrite and InferenceObjective. */
export const REWRITE_VERSIONS = ["llm-d.ai/v1alpha2", "inference.networking.x-k8s.io/v1alpha2"] as const;
export const PICKER_VERSIONS = ["llm-d.ai/v1alpha1", "llm-d.ai/v1", "inference.networking.x-k8s.io/v1alpha1"] as const;

const VERSIONS: Readonly<Record<Kind, readonly string[]>> = {
  Router: ROUTER_VERSIONS,
  Pool: ROUTER_VERSIONS,
  InferenceModelRewrite: REWRITE_VERSIONS,
  InferenceObjective: REWRITE_VERSIONS,
  EndpointPickerConfig: PICKER_VERSIONS,
};
const KINDS = Object.keys(VERSIONS) as readonly Kind[];

/** Groups documents by kind. Expands lists, as a cluster exports them, and reports unknown kinds. */
export function sortByKind(documents: readonly ConfigDocument[]): Readonly<Record<Kind, readonly ConfigDocument[]>> {
  const sorted: Record<Kind, ConfigDocument[]> = {
    Router: [],
    Pool: [],
    InferenceModelRewrite: [],
    InferenceObjective: [],
    EndpointPickerConfig: [],
  };
  for (const document of documents.flatMap(itemsOf)) {
    const kind = kindOf(document);
    if (kind !== undefined) sorted[kind].push(...withVersion(document, kind));
  }
  return sorted;
}

function itemsOf(document: ConfigDocument): readonly ConfigDocument[] {
  const { value, positionOf, report } = document;
  if (!isMapping(value) || value["kind"] !== "List" || !Array.isArray(value["items"])) return [document];
  return value["items"].map((item: unknown, index) => ({
    ...document,
    value: item,
    positionOf: (path, part) => positionOf(["items", index, ...path], part),
    report: (path, finding, part) => report(["items", index, ...path], finding, part),
  }));
}

/** For those who begin with the keys of a Router. */
const FIRST_LINES =
  'A router\'s config begins with "apiVersion: signalbox/v1" and "kind: Router"; pool, listen and the others are below "spec:".';

function kindOf({ value, report }: ConfigDocument): Kind | undefined {
  if (!isMapping(value)) {
    // What is no config may be a file of secrets: nothing of it is quoted.
    report([], { found: describeKind(value), wanted: "a mapping with apiVersion, kind and spec" });
    return undefined;
  }
  const kind = KINDS.find((known) => known === value["kind"]);
  const misspelled = value["kind"] === undefined ? Object.keys(value).find((key) => didYouMean(key, ["kind"]) !== "") : undefined;
  if (misspelled !== undefined) {
    report(
      [misspelled],
      { found: unknownKey(misspelled), wanted: `the key "kind": ${KINDS.join(" or ")}`, hint: didYouMean(misspelled, ["kind"]) },
      "key",
    );
  } else if (kind === undefined) {
    const hint = value["kind"] === undefined ? FIRST_LINES : didYouMean(String(value["kind"]), KINDS);
    report(["kind"], { ...foundOf(value["kind"], "kind"), wanted: KINDS.join(" or "), hint });
  }
  return kind;
}

/** The document, with a known version if its own is missing or mistyped; nothing if it is another one altogether. */
function withVersion(document: ConfigDocument, kind: Kind): readonly ConfigDocument[] {
  const { apiVersion, ...rest } = document.value as Record<string, unknown>;
  const versions = VERSIONS[kind];
  if (typeof apiVersion === "string" && versions.includes(apiVersion)) return [document];
  const hint = didYouMean(String(apiVersion), versions);
  document.report(["apiVersion"], { ...foundOf(apiVersion, "apiVersion"), wanted: versions.join(" or "), hint });
  return apiVersion !== undefined && hint === "" ? [] : [{ ...document, value: { apiVersion: versions[0], ...rest } }];
}

const foundOf = (value: unknown, key: string) => ({ found: value === undefined ? `no ${quoted(key)}` : describe(value) });
