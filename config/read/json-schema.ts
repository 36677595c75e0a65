import type { OptionSchema } from "../../core/contract/options.ts";
import { isMapping } from "./problems.ts";

/** A JSON Schema node; only the fields that are used here. */
export type JsonSchema = Readonly<Record<string, unknown>>;

type Convertible = { readonly jsonSchema?: { readonly input: (options: { target: string }) => JsonSchema } };

/** A schema as JSON Schema draft 7, which editors support; undefined if its library can't convert it. */
export function jsonSchemaOf(schema: OptionSchema<unknown>): JsonSchema | undefined {
  try {
    return (schema["~standard"] as Convertible).jsonSchema?.input({ target: "draft-07" });
  } catch {
    return undefined;
  }
}

/** Converting takes milliseconds, and a document may have thousands of problems. */
const converted = new WeakMap<OptionSchema<unknown>, JsonSchema>();

/** The keys that the schema names for a mapping at `path`. */
export function keysAt(schema: OptionSchema<unknown>, path: readonly PropertyKey[]): readonly string[] {
  const root = converted.get(schema) ?? jsonSchemaOf(schema);
  if (root !== undefined) converted.set(schema, root);
  let nodes = root === undefined ? [] : alternatives(root);
  for (const step of path) {
    nodes = nodes.flatMap((node) => {
      const child = typeof step === "number" ? node["items"] : (propertiesOf(node)[String(step)] ?? node["additionalProperties"]);
      return isMapping(child) ? alternatives(child) : [];
    });
  }
  return [...new Set(nodes.flatMap((node) => Object.keys(propertiesOf(node))))];
}

function alternatives(node: JsonSchema): readonly JsonSchema[] {
  const branches = ["anyOf", "oneOf", "allOf"].flatMap((keyword) => (Array.isArray(node[keyword]) ? node[keyword] : []));
  return [node, ...branches.flatMap(alternatives)];
}

const propertiesOf = ({ properties }: JsonSchema): JsonSchema => (isMapping(properties) ? properties : {});
