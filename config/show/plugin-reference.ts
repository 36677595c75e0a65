import type { Definition, PluginKind } from "../../core/contract/plugin.ts";
import { configuredBy } from "../plugins/defaults.ts";
import { ownTypes, type Registry } from "../plugins/instances.ts";
import { type JsonSchema, jsonSchemaOf } from "../read/json-schema.ts";
import { isMapping } from "../read/problems.ts";

/** What people read of a plugin type, made of its definition. */
export interface PluginDescription {
  readonly kind: PluginKind;
  readonly type: string;
  readonly summary: string;
  /** The reference router's names for it. */
  readonly otherNames: readonly string[];
  /** The part of the config that makes it, where that is not `spec.plugins`; "" for most. */
  readonly configuredBy: string;
  readonly options: readonly OptionDescription[];
  /** An entry of `spec.plugins`, with what is required and the defaults; "" where it is configured elsewhere. */
  readonly example: string;
}

export interface OptionDescription {
  readonly name: string;
  /** What it may be, such as "integer, 1 to 100". */
  readonly value: string;
  /** As JSON; "" if it has none. */
  readonly default: string;
  readonly isRequired: boolean;
  readonly meaning: string;
}

/** Every type once, by kind, in the registry's order. */
export function describePlugins(registry: Registry): readonly PluginDescription[] {
  const all = ownTypes(registry);
  const kinds = [...new Set(all.map(({ kind }) => kind))];
  return kinds.flatMap((kind) => all.filter((each) => each.kind === kind).map((each) => describe(each, registry)));
}

function describe(definition: Definition, registry: Registry): PluginDescription {
  const { kind, type, summary } = definition;
  const options = optionsOf(definition);
  const elsewhere = configuredBy(definition);
  const otherNames = [...registry].filter(([name, other]) => other.type === type && name !== type).map(([name]) => name);
  const example = elsewhere === "" ? exampleOf(type, options) : "";
  return { kind, type, summary, otherNames, configuredBy: elsewhere, options, example };
}

/** The options of a plugin; of one whose schema has alternatives, those of all of them. */
function optionsOf({ options }: Definition): readonly OptionDescription[] {
  const root = jsonSchemaOf(options) ?? {};
  const branches = listOf(root["oneOf"] ?? root["anyOf"] ?? [root]);
  const found = new Map<string, OptionDescription>();
  for (const branch of branches) {
    for (const [name, schema] of Object.entries(isMapping(branch["properties"]) ? branch["properties"] : {})) {
      if (found.has(name) || !isMapping(schema)) continue;
      const { default: usual, description = "" } = schema;
      const isRequired = branches.every(({ required }) => Array.isArray(required) && required.includes(name));
      const value = [...new Set(branches.flatMap((one) => valueIn(one, name)))].join(" | ");
      found.set(name, {
        ...{ name, value, isRequired, meaning: String(description) },
        default: usual === undefined ? "" : JSON.stringify(usual),
      });
    }
  }
  return [...found.values()];
}

function valueIn({ properties }: JsonSchema, name: string): readonly string[] {
  const schema = isMapping(properties) ? properties[name] : undefined;
  return isMapping(schema) ? [valueText(schema)] : [];
}

const UNBOUNDED = Number.MAX_SAFE_INTEGER;

/** What a schema lets a value be, such as "integer, from 1 to 100". */
export function valueText(schema: JsonSchema): string {
  const {
    type,
    const: only,
    minimum,
    exclusiveMinimum,
    maximum,
    exclusiveMaximum,
    minLength,
    items,
    additionalProperties,
  } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(schema["enum"])) return schema["enum"].map((each) => JSON.stringify(each)).join(" | ");
  const choices = listOf(schema["anyOf"] ?? schema["oneOf"] ?? []);
  if (choices.length > 0) return choices.map(valueText).join(" | ");
  if (type === "array") return `list of ${isMapping(items) ? valueText(items) : "values"}`;
  if (type === "object")
    return isMapping(additionalProperties) ? `mapping to ${valueText(additionalProperties)}` : "mapping with keys of its own";
  const from = minimum ?? exclusiveMinimum;
  const bounds = [
    ...(from === undefined ? [] : [minimum === undefined ? `above ${from}` : `from ${from}`]),
    ...(maximum === undefined || maximum === UNBOUNDED ? [] : [`to ${maximum}`]),
    ...(exclusiveMaximum === undefined ? [] : [`to below ${exclusiveMaximum}`]),
  ].join(" ");
  const word = Array.isArray(type) ? type.join(" | ") : String(type ?? "any value");
  return [minLength === undefined ? word : `${word}, not empty`, bounds].filter(Boolean).join(", ");
}

function exampleOf(type: string, options: readonly OptionDescription[]): string {
  const given = options.filter((each) => each.isRequired || each.default !== "");
  const parameters = given.map(({ name, default: usual, value }) => `${name}: ${usual || placeholder(value)}`).join(", ");
  return parameters === "" ? `- { type: ${type} }` : `- { type: ${type}, parameters: { ${parameters} } }`;
}

function placeholder(value: string): string {
  const [, number] = /(?:from|above) (\d+)/.exec(value) ?? [];
  if (value.startsWith("list")) return "[ … ]";
  if (value.startsWith("mapping")) return "{ … }";
  return number ?? "…";
}

function listOf(value: unknown): readonly JsonSchema[] {
  return Array.isArray(value) ? value : [];
}
