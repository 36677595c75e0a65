import { badRequest, invalidField, Problem } from "./problem.ts";
import { tokenize } from "./tokens.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** The body as a JSON object. Throws the Problem that vLLM would report. */
export function parseBody(bytes: Buffer): JsonObject {
  if (bytes.length === 0) throw invalidField("missing", "body", "Field required", undefined);
  const value = parseJson(bytes);
  if (isObject(value)) return value;
  throw invalidField(
    "model_attributes_type",
    "body",
    "Input should be a valid dictionary or object to extract fields from",
    value,
  );
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    // vLLM names the position of the error. Runtimes report different ones, so use the end of the body.
    throw invalidField("json_invalid", `body.${bytes.length}`, "JSON decode error", {});
  }
}

/** True for a JSON object, not for an array or null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A required field. */
export function required(body: JsonObject, name: string): unknown {
  if (body[name] === undefined) throw invalidField("missing", `body.${name}`, "Field required", body);
  return body[name];
}

/** A required list. */
export function requiredList(body: JsonObject, name: string): readonly unknown[] {
  const value = required(body, name);
  if (Array.isArray(value)) return value;
  throw invalidField("list_type", `body.${name}`, "Input should be a valid list", value);
}

/** A string; undefined if the field is absent or null. */
export function optionalString(body: JsonObject, name: string): string | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined || typeof value === "string") return value;
  throw invalidField("string_type", `body.${name}`, "Input should be a valid string", value);
}

/** A whole number; undefined if the field is absent or null. */
export function optionalInteger(body: JsonObject, name: string): number | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value)) return value;
  throw invalidField("int_type", `body.${name}`, "Input should be a valid integer", value);
}

/** A token limit: at least 1. */
export function optionalLimit(body: JsonObject, name: string): number | undefined {
  const value = optionalInteger(body, name);
  if (value === undefined || value >= 1) return value;
  const message = `${name} must be at least 1, got ${value}. (parameter=${name}, value=${value})`;
  throw new Problem(400, "BadRequestError", message, { param: name });
}

/** Number of outputs per prompt; limited, because a mock needs few. */
export function sampleCount(body: JsonObject): number {
  return Math.min(Math.max(1, optionalInteger(body, "n") ?? 1), 64);
}

const TRUE_WORDS = new Set<unknown>([true, 1, "true", "yes", "on", "1", "t", "y"]);

/** A boolean field. Like vLLM's schema, it accepts more values than `true`. */
export function flag(body: JsonObject, name: string): boolean {
  const value = body[name];
  return TRUE_WORDS.has(typeof value === "string" ? value.toLowerCase() : value);
}

/** The usage that the client wants in a stream. */
export function streamOptions(body: JsonObject): { readonly hasUsage: boolean; readonly hasRunningUsage: boolean } {
  const options = body["stream_options"] ?? undefined;
  if (options === undefined) return { hasUsage: false, hasRunningUsage: false };
  if (!flag(body, "stream")) throw badRequest("Stream options can only be defined when `stream=True`.", "stream_options");
  if (!isObject(options))
    throw invalidField("model_attributes_type", "body.stream_options", "Input should be a valid dictionary", options);
  const hasUsage = flag(options, "include_usage");
  return { hasUsage, hasRunningUsage: hasUsage && flag(options, "continuous_usage_stats") };
}

/** The salt that separates prefix caches; an empty one is refused. */
export function cacheSalt(body: JsonObject): string {
  const salt = optionalString(body, "cache_salt");
  if (salt !== "") return salt ?? "";
  throw badRequest("Parameter 'cache_salt' must be a non-empty string if provided.", "cache_salt");
}

/** Token ids: at least one, none negative. */
export function tokenIds(value: readonly unknown[], place: string): readonly number[] {
  if (value.length === 0)
    throw invalidField("too_short", place, "List should have at least 1 item after validation, not 0", value);
  for (const id of value) {
    if (typeof id !== "number" || !Number.isInteger(id) || id < 0)
      throw invalidField("int_type", place, "Input should be a valid integer", id);
  }
  return value as readonly number[];
}

/** The prompts in a list: texts and lists of token ids, or the token ids of one. */
export function promptList(list: readonly unknown[], place: string): readonly (readonly number[])[] {
  if (list.length === 0 || typeof list[0] === "number") return [tokenIds(list, place)];
  return list.map((entry) => {
    if (typeof entry === "string") return tokenize(entry);
    if (Array.isArray(entry)) return tokenIds(entry, place);
    throw invalidField("string_type", place, "Input should be a valid string", entry);
  });
}
