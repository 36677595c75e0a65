import { isObject, type JsonObject } from "./fields.ts";

/** A schema may refer to itself: below this depth only what must be there is made. */
const DEEPEST = 12;

/** The smallest value that fits a JSON schema, as far as the schema says it in the usual keywords. */
export function valueFor(schema: unknown, root: unknown = schema, depth = 0): unknown {
  if (!isObject(schema) || depth > DEEPEST) return null;
  const { $ref, anyOf, oneOf, allOf } = schema;
  if (typeof $ref === "string") return valueFor(target($ref, root), root, depth + 1);
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"])) return schema["enum"][0] ?? null;
  if ("default" in schema) return schema["default"];
  if (Array.isArray(allOf)) return valueFor(merged(allOf, schema, root), root, depth + 1);
  const either = anyOf ?? oneOf;
  if (Array.isArray(either)) return valueFor(either[0], root, depth + 1);
  return valueOfType(schema, root, depth);
}

function valueOfType(schema: JsonObject, root: unknown, depth: number): unknown {
  const { type = "properties" in schema ? "object" : undefined } = schema;
  switch (Array.isArray(type) ? type[0] : type) {
    case "object":
      return objectFor(schema, root, depth);
    case "array":
      return arrayFor(schema, root, depth);
    case "string":
      return textFor(schema);
    case "integer":
    case "number":
      return numberFor(schema);
    case "boolean":
      return true;
    default:
      return null;
  }
}

function objectFor({ properties, required }: JsonObject, root: unknown, depth: number): unknown {
  const names = Array.isArray(required) ? required.map(String) : [];
  const shapes = isObject(properties) ? properties : {};
  return Object.fromEntries(names.map((name) => [name, valueFor(shapes[name], root, depth + 1)]));
}

function arrayFor({ items, prefixItems, minItems }: JsonObject, root: unknown, depth: number): unknown {
  const first = Array.isArray(prefixItems) ? prefixItems : [];
  const count = Math.max(first.length, Math.min(numberOr(minItems, 0), 100));
  return Array.from({ length: count }, (_, index) => valueFor(first[index] ?? items, root, depth + 1));
}

const FORMATS: Readonly<Record<string, string>> = {
  date: "2026-01-31",
  "date-time": "2026-01-31T12:00:00Z",
  time: "12:00:00Z",
  email: "a@example.com",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

function textFor({ format, minLength, maxLength }: JsonObject): string {
  const usual = FORMATS[String(format)] ?? "text";
  const text = usual.padEnd(Math.min(numberOr(minLength, 0), 10_000), "x");
  return text.slice(0, numberOr(maxLength, text.length));
}

function numberFor({ minimum, exclusiveMinimum, maximum, exclusiveMaximum, multipleOf }: JsonObject): number {
  const step = numberOr(multipleOf, 1);
  const least = Math.max(numberOr(minimum, Number.NEGATIVE_INFINITY), numberOr(exclusiveMinimum, Number.NEGATIVE_INFINITY));
  const most = Math.min(numberOr(maximum, Number.POSITIVE_INFINITY), numberOr(exclusiveMaximum, Number.POSITIVE_INFINITY));
  if (least <= 0 && most > 0) return 0 > numberOr(exclusiveMinimum, -1) ? 0 : step;
  if (least > 0) return Math.ceil(least / step) * step + (least === exclusiveMinimum ? step : 0);
  return Math.floor(most / step) * step - (most === exclusiveMaximum ? step : 0);
}

const numberOr = (value: unknown, otherwise: number) => (typeof value === "number" ? value : otherwise);

/** What a reference such as "#/$defs/place" names. */
function target(reference: string, root: unknown): unknown {
  const steps = reference.replace(/^#\/?/, "").split("/");
  return steps.reduce<unknown>((at, step) => (step === "" ? at : isObject(at) ? at[decoded(step)] : undefined), root);
}

const decoded = (step: string) => step.replaceAll("~1", "/").replaceAll("~0", "~");

function merged(all: readonly unknown[], { allOf: _, ...own }: JsonObject, root: unknown): JsonObject {
  const parts = [...all, own].map((part) =>
    isObject(part) && typeof part["$ref"] === "string" ? target(part["$ref"], root) : part,
  );
  const objects = parts.filter(isObject);
  const listed = (name: string) => objects.flatMap((part) => (Array.isArray(part[name]) ? part[name] : []));
  const shapes = objects.map(({ properties }) => (isObject(properties) ? properties : {}));
  return { ...Object.assign({}, ...objects), properties: Object.assign({}, ...shapes), required: listed("required") };
}
