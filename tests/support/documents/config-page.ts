import { objectiveDocument } from "../../../config/objectives/schema.ts";
import type { Registry } from "../../../config/plugins/instances.ts";
import { poolDocument } from "../../../config/pools/schema.ts";
import { type JsonSchema, jsonSchemaOf } from "../../../config/read/json-schema.ts";
import { isMapping } from "../../../config/read/problems.ts";
import { rewriteDocument } from "../../../config/rewrites/schema.ts";
import { routerDocument } from "../../../config/router/schema.ts";
import { DURATION, SIZE } from "../../../config/schema/values.ts";
import type { EffectiveConfig } from "../../../config/show/effective.ts";
import { valueText } from "../../../config/show/plugin-reference.ts";
import { markdownTable } from "./markdown-table.ts";

const HEAD = `# Config

Every key of the config's documents, made of their schemas by \`npm run config-page\`. A config is one or more YAML documents, in one file,
several files or a folder. \`signalbox check -f FILE\` checks it, \`signalbox config print --effective\` shows every value that runs and
where it comes from. \`docs/plugins.md\` has the options of each plugin, \`config/LIMITS.md\` says why each limit has its value.

A key without a default is left out by default, unless it is required where the keys around it are given. \`[]\` stands for each entry of a
list. Times and sizes may have a unit: \`75s\`, \`1.5h\`, \`32MiB\`. \`\${NAME}\` and \`\${NAME:-default}\` stand for environment variables.
`;

/** One key of a document. */
export interface ConfigKey {
  /** Below the section, such as "probes.startup.path"; the section's own name for a section that is one value. */
  readonly key: string;
  /** What it may be: type, unit and bounds. */
  readonly value: string;
  /** "required", or the value that it stands for when it is left out; "" if there is none. */
  readonly default: string;
  readonly meaning: string;
}

interface Section {
  readonly title: string;
  readonly meaning: string;
  readonly keys: readonly ConfigKey[];
}

/** The reference page of all config keys, in Markdown. `effective` is a config that says nothing but its endpoints. */
export function configPage(effective: EffectiveConfig, registry: Registry): string {
  const sections = configSections(effective, registry);
  const parts = sections.map(({ title, meaning, keys }) => {
    const rows = keys.map(({ key, value, default: usual, meaning: text }) => {
      return [`\`${key}\``, value, usual === "" || usual === "required" ? usual : `\`${usual}\``, text];
    });
    const table = markdownTable([["key", "value", "default", "meaning"], ...rows]);
    const isInTable = title === `## spec.${keys[0]?.key}`;
    return [title, ...(meaning === "" || isInTable ? [] : [meaning]), table].join("\n\n");
  });
  return `${HEAD}\n${contents(sections)}\n\n${parts.join("\n\n")}\n`;
}

/** A line for each section, with a link to it. */
function contents(sections: readonly Section[]): string {
  const lines = sections.map(({ title, meaning }) => {
    const name = title.replace(/^#+ /, "");
    const anchor = name
      .toLowerCase()
      .replace(/[^\w -]/g, "")
      .replaceAll(" ", "-");
    return `- [${name}](#${anchor})${meaning === "" ? "" : `: ${meaning}`}`;
  });
  return ["## Contents", lines.join("\n")].join("\n\n");
}

export function configSections(effective: EffectiveConfig, registry: Registry): readonly Section[] {
  const spec = propertiesOf(propertiesOf(schemaOf(routerDocument(registry)))["spec"]);
  const router = Object.entries(spec).map(([name, schema]) => {
    const usual = valueAt(effective.router.spec, name);
    return { title: `## spec.${name}`, meaning: meaningOf(schema), keys: keysOf(schema, "", name, usual) };
  });
  return [
    ...router,
    poolSection(registry, new Set(Object.keys(spec))),
    ...documentSections("InferenceModelRewrite", rewriteDocument),
    ...documentSections("InferenceObjective", objectiveDocument),
  ];
}

/** The keys that only a Pool document has; the others are those of the Router document. */
function poolSection(registry: Registry, ofRouter: ReadonlySet<string>): Section {
  const { metadata, spec } = propertiesOf(schemaOf(poolDocument(registry)));
  const all = Object.entries(propertiesOf(spec));
  const own = all.filter(([key]) => !ofRouter.has(key)).flatMap(([key, schema]) => keysOf(schema, `spec.${key}`));
  const shared = all.filter(([key]) => ofRouter.has(key)).map(([key]) => `\`${key}\``);
  const meaning = `A pool beside the router's own (\`docs/pools.md\`). Its spec may also have these keys of the Router document: ${shared.join(", ")}; \`pool\` has no \`name\`.`;
  return { title: "## Pool", meaning, keys: [...keysOf(metadata, "metadata"), ...own] };
}

function documentSections(kind: string, document: Parameters<typeof jsonSchemaOf>[0]): readonly Section[] {
  const { metadata, spec } = propertiesOf(schemaOf(document));
  return [{ title: `## ${kind}`, meaning: "", keys: [...keysOf(metadata, "metadata"), ...keysOf(spec, "spec")] }];
}

/** The keys below a node; the node itself, if it has none. */
function keysOf(node: unknown, path: string, name = path, usual?: unknown, isRequired = false): readonly ConfigKey[] {
  const branches = branchesOf(node);
  const below = branches.flatMap((branch) => {
    const required = Array.isArray(branch["required"]) ? branch["required"] : [];
    const own = Object.entries(propertiesOf(branch)).flatMap(([key, inner]) => {
      const place = path === "" ? key : `${path}.${key}`;
      return keysOf(inner, place, place, valueAt(usual, key), required.includes(key));
    });
    const { items } = branch;
    return isMapping(items) && hasKeys(items) ? [...own, ...keysOf(items, `${name}[]`)] : own;
  });
  const isList = branches.some(({ type }) => type === "array");
  if (below.length > 0 && !isList) return below;
  const { text, told } = withoutDefault(meaningOf(node));
  const value = below.length > 0 ? "list" : measureText(node);
  const otherwise = isRequired ? "required" : (told ?? shown(usual));
  return [{ key: name, value, default: otherwise.replaceAll('"', ""), meaning: text }, ...below];
}

/** As `valueText`, with the unit of times, sizes and shares. */
function measureText(node: unknown): string {
  if (!isMapping(node)) return "";
  const [number, written, ...others] = Array.isArray(node["anyOf"]) ? (node["anyOf"] as JsonSchema[]) : [];
  const pattern = written?.["pattern"];
  if (number === undefined || typeof pattern !== "string" || others.length > 0) return valueText(node);
  const { type } = number;
  if (pattern === SIZE.source) return `${valueText(number)} bytes, or a size such as 32MiB`;
  if (pattern !== DURATION.source) return `${valueText(number)} or percent`;
  return `${valueText(number)} ${type === "integer" ? "ms" : "s"}, or a time such as 10s`;
}

/** Takes "Default 5." out of a description, or reads "(x, the default)". */
function withoutDefault(meaning: string): { readonly text: string; readonly told: string | undefined } {
  const said = /\s?\bDefault:? (\S+)\.(?= |$)/.exec(meaning);
  if (said !== null) return { text: meaning.replace(said[0], "").trim(), told: said[1] };
  return { text: meaning, told: /([\w.]+) \(the default\)|\(([\w.]+), the default\)/.exec(meaning)?.slice(1).find(Boolean) };
}

const valueAt = (value: unknown, key: string): unknown => (isMapping(value) ? value[key] : undefined);
const schemaOf = (document: Parameters<typeof jsonSchemaOf>[0]): JsonSchema => jsonSchemaOf(document) ?? {};
const propertiesOf = (node: unknown): JsonSchema => (isMapping(node) && isMapping(node["properties"]) ? node["properties"] : {});
const meaningOf = (node: unknown): string => (isMapping(node) ? String(node["description"] ?? "") : "");
const hasKeys = (node: unknown): boolean => branchesOf(node).some((branch) => Object.keys(propertiesOf(branch)).length > 0);

/** The alternatives of a node that can have keys; the node itself, if it has no alternatives. */
function branchesOf(node: unknown): readonly JsonSchema[] {
  if (!isMapping(node)) return [];
  const choices = node["anyOf"] ?? node["oneOf"];
  return Array.isArray(choices) ? choices.flatMap(branchesOf) : [node];
}

/** A default in one word; "" for what is a mapping, or a list of them. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "[]" : "";
  return value === undefined || typeof value === "object" ? "" : String(value);
}
