import type { z } from "../core/contract/options.ts";
import { didYouMean } from "./did-you-mean.ts";
import type { ConfigDocument } from "./documents.ts";
import { PICKER_VERSIONS } from "./endpoint-picker/schema.ts";
import { type DetailedIssue, reportIssues, stepsOf } from "./issues.ts";
import { describe, type Path, quoted, type Report } from "./problems.ts";
import { REWRITE_VERSIONS } from "./rewrite-schema.ts";

/** A document that fits its schema, with its positions. */
export interface Resource<Document> {
  readonly file: string;
  readonly document: Document;
  readonly positionOf: ConfigDocument["positionOf"];
  readonly report: Report;
  /** Names of sections that were left out because they have problems, which are already reported. */
  readonly broken: ReadonlySet<string>;
}

type Kind = "Router" | "InferenceModelRewrite" | "EndpointPickerConfig";

const VERSIONS: Readonly<Record<Kind, readonly string[]>> = {
  Router: ["signalbox/v1"],
  InferenceModelRewrite: REWRITE_VERSIONS,
  EndpointPickerConfig: PICKER_VERSIONS,
};
const KINDS = Object.keys(VERSIONS) as readonly Kind[];

/** Groups documents by kind. Expands lists, as a cluster exports them, and reports unknown kinds. */
export function sortByKind(documents: readonly ConfigDocument[]): Readonly<Record<Kind, readonly ConfigDocument[]>> {
  const sorted: Record<Kind, ConfigDocument[]> = { Router: [], InferenceModelRewrite: [], EndpointPickerConfig: [] };
  for (const document of documents.flatMap(itemsOf)) {
    const kind = kindOf(document);
    if (kind !== undefined) sorted[kind].push(document);
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

function kindOf({ value, report }: ConfigDocument): Kind | undefined {
  if (!isMapping(value)) {
    report([], { found: describe(value), wanted: "a mapping with apiVersion, kind and spec" });
    return undefined;
  }
  const kind = KINDS.find((known) => known === value["kind"]);
  if (kind === undefined) {
    report(["kind"], {
      ...foundOf(value["kind"], "kind"),
      wanted: KINDS.join(" or "),
      hint: didYouMean(String(value["kind"]), KINDS),
    });
    return undefined;
  }
  const version = value["apiVersion"];
  if (typeof version === "string" && VERSIONS[kind].includes(version)) return kind;
  const wanted = VERSIONS[kind].join(" or ");
  report(["apiVersion"], { ...foundOf(version, "apiVersion"), wanted, hint: didYouMean(String(version), VERSIONS[kind]) });
  return undefined;
}

const foundOf = (value: unknown, key: string) => ({ found: value === undefined ? `no ${quoted(key)}` : describe(value) });

/**
 * Validates a document. Unknown keys and sections with problems (`sectionOf` returns a problem's section) are reported and left
 * out, so that the rest can still be checked. Undefined when nothing usable is left.
 */
export function fit<Document>(
  { file, value, positionOf, report }: ConfigDocument,
  schema: z.ZodType<Document>,
  sectionOf: (steps: Path) => Path | undefined,
): Resource<Document> | undefined {
  const first = schema.safeParse(value);
  if (first.success) return { file, document: first.data, positionOf, report, broken: new Set() };
  const issues: readonly DetailedIssue[] = first.error.issues;
  reportIssues(issues, { schema, value, base: [], report });
  const rest = structuredClone(value);
  const broken = new Set<string>();
  for (const issue of issues) {
    const steps = stepsOf(issue);
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys ?? []) removeAt(rest, [...steps, key]);
      continue;
    }
    const section = sectionOf(steps);
    if (section === undefined) return undefined;
    broken.add(String(section.at(-1)));
    removeAt(rest, section);
  }
  const second = schema.safeParse(rest);
  return second.success ? { file, document: second.data, positionOf, report, broken } : undefined;
}

function removeAt(root: unknown, path: Path): void {
  let container = root;
  for (const step of path.slice(0, -1)) container = isContainer(container) ? container[step] : undefined;
  const last = path.at(-1);
  if (isContainer(container) && last !== undefined) delete container[last];
}

function isContainer(value: unknown): value is Record<string | number, unknown> {
  return typeof value === "object" && value !== null;
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return isContainer(value) && !Array.isArray(value);
}
