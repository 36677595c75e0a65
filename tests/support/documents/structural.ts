import type { JsonSchema } from "../../../config/read/json-schema.ts";
import { isMapping } from "../../../config/read/problems.ts";

// A Kubernetes API server takes a part of JSON Schema for a resource's schema: each value has one type, and there are no branches.

/** Keywords that mean the same in both. */
const KEPT: ReadonlySet<string> = new Set([
  ...["type", "description", "required", "enum", "format", "pattern", "minimum", "maximum", "minLength", "maxLength"],
  ...["minItems", "maxItems"],
]);

const ANYTHING = { "x-kubernetes-preserve-unknown-fields": true };

/** The same schema as far as an API server can check it; what it can't, the router does. */
export function structural(node: JsonSchema): JsonSchema {
  const { anyOf, const: only, properties, items, additionalProperties } = node;
  if (Array.isArray(anyOf)) return { ...kept(node), ...ofBranches(anyOf) };
  const isFree = node["type"] === undefined || (node["type"] === "object" && !isMapping(properties));
  return {
    ...kept(node),
    ...(only !== undefined && { enum: [only] }),
    ...exclusive(node, "Minimum"),
    ...exclusive(node, "Maximum"),
    ...(isMapping(items) && { items: structural(items) }),
    ...(isMapping(properties) && { properties: eachOf(properties) }),
    ...(isTyped(additionalProperties) ? { additionalProperties: structural(additionalProperties) } : isFree && ANYTHING),
  };
}

/** Several types for one value. */
function ofBranches(branches: readonly JsonSchema[]): JsonSchema {
  const [number, text] = [branches.find(isNumber), branches.find(({ type }) => type === "string")];
  // A number or a text with a unit. Fractions are written as texts, since the API server takes whole numbers alone here.
  if (number !== undefined && text !== undefined && !String(text["pattern"]).includes("%")) {
    const { minimum, maximum } = number;
    return { "x-kubernetes-int-or-string": true, minimum: Math.ceil(Number(minimum)), maximum, pattern: text["pattern"] };
  }
  const mapping = branches.find(({ properties }) => isMapping(properties));
  if (mapping === undefined) return ANYTHING;
  const { type: _, ...ofMapping } = structural(mapping);
  return { ...ANYTHING, ...ofMapping };
}

const isNumber = ({ type }: JsonSchema) => type === "number" || type === "integer";
const isTyped = (schema: unknown): schema is JsonSchema => isMapping(schema) && schema["type"] !== undefined;

function kept(node: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(node).filter(([key]) => KEPT.has(key)));
}

function eachOf(properties: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, structural(value as JsonSchema)]));
}

/** A bound that is left out itself: two keywords here, one there. */
function exclusive(node: JsonSchema, which: "Minimum" | "Maximum"): JsonSchema {
  const bound = node[`exclusive${which}`];
  return bound === undefined ? {} : { [which.toLowerCase()]: bound, [`exclusive${which}`]: true };
}
