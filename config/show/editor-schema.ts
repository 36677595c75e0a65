import type { Definition } from "../../core/contract/plugin.ts";
import { pickerDocument } from "../endpoint-picker/schema.ts";
import { objectiveDocument } from "../objectives/schema.ts";
import { configuredBy } from "../plugins/defaults.ts";
import { isProfileKind, type Registry } from "../plugins/instances.ts";
import { poolDocument } from "../pools/schema.ts";
import { type JsonSchema, jsonSchemaOf } from "../read/json-schema.ts";
import { rewriteDocument } from "../rewrites/schema.ts";
import { routerDocument } from "../router/schema.ts";

/** A plugin that a config loads with `from`. */
export interface OwnPlugin {
  readonly from: string;
  readonly definition: Definition;
}

/**
 * A JSON Schema (draft 7, which editors support) for config files, with the options of every plugin type in the registry, and of those
 * that configs load from `own`.
 */
export function editorSchema(registry: Registry, own: readonly OwnPlugin[] = []): JsonSchema {
  const types = [...registry]
    .filter(([, definition]) => configuredBy(definition) === "")
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, definition]) => {
      const { type, summary } = definition;
      return name === type ? definition : { ...definition, type: name, summary: `${summary} The reference's name for ${type}.` };
    });
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    $id: "urn:signalbox:config:v1",
    title: "Signalbox config",
    anyOf: ["Router", "Pool", "InferenceModelRewrite", "InferenceObjective", "EndpointPickerConfig"].map((kind) => ({
      $ref: `#/definitions/${kind}`,
    })),
    definitions: {
      Router: withPlugins(documentSchema(routerDocument(registry)), types, own),
      Pool: likeRouter(documentSchema(poolDocument(registry)), documentSchema(routerDocument(registry))),
      InferenceModelRewrite: documentSchema(rewriteDocument),
      InferenceObjective: documentSchema(objectiveDocument),
      EndpointPickerConfig: documentSchema(pickerDocument),
    },
  };
}

/** What stands in both documents is described once. */
function likeRouter(pool: JsonSchema, router: JsonSchema): JsonSchema {
  const shared = propertiesOfSpec(router);
  return edit(pool, ["properties", "spec", "properties"], (sections) =>
    Object.fromEntries(
      Object.entries(sections).map(([key, schema]) => {
        const isShared = key !== "pool" && Object.hasOwn(shared, key);
        return [key, isShared ? { $ref: `#/definitions/Router/properties/spec/properties/${key}` } : schema];
      }),
    ),
  );
}

const propertiesOfSpec = (document: JsonSchema) =>
  (document["properties"] as { readonly spec: { readonly properties: JsonSchema } }).spec.properties;

function documentSchema(schema: Parameters<typeof jsonSchemaOf>[0]): JsonSchema {
  const { $schema: _, ...described } = jsonSchemaOf(schema) ?? {};
  return described;
}

/** Adds the plugin types to `type`, the modules to `from`, and the options of each to its `parameters`. */
function withPlugins(router: JsonSchema, types: readonly Definition[], own: readonly OwnPlugin[]): JsonSchema {
  const inProfile = types.filter(({ kind }) => isProfileKind(kind));
  const typed = edit(router, ["properties", "spec", "properties", "plugins", "items"], (entry) => ({
    ...edit(entry, ["properties", "type"], (type) => ({ ...type, anyOf: types.map(named) })),
    allOf: [
      ...types.map(({ type, options }) => parametersWhere("type", type, options)),
      ...own.map(({ from, definition }) => parametersWhere("from", from, definition.options)),
    ],
  }));
  const refs = "properties.spec.properties.profiles.items.properties.plugins.items.properties.pluginRef".split(".");
  return edit(typed, refs, (ref) => ({ ...ref, anyOf: [...inProfile.map(named), { type: "string" }] }));
}

const parametersWhere = (key: string, value: string, options: Definition["options"]): JsonSchema => ({
  if: { required: [key], properties: { [key]: { const: value } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { properties: { parameters: documentSchema(options) } },
});

const named = ({ type, kind, summary }: Definition): JsonSchema => ({ const: type, description: `${kind}: ${summary}` });

/** A copy in which the node at `path` is changed. */
function edit(schema: JsonSchema, [first, ...rest]: readonly string[], change: (node: JsonSchema) => JsonSchema): JsonSchema {
  if (first === undefined) return change(schema);
  return { ...schema, [first]: edit(schema[first] as JsonSchema, rest, change) };
}
