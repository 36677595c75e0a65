import type { BodyView } from "../../core/contract/body-view.ts";
import { RouterError } from "../../core/contract/errors.ts";
import { type FoundModel, modelInPath, modelInQuery, NO_MODEL } from "../../core/contract/model-in-target.ts";
import { z } from "../../core/contract/options.ts";
import type { BodyReader, Parser } from "../../core/contract/parser.ts";
import { pathPlaces } from "../../core/contract/path-pattern.ts";
import { defineParser } from "../../core/contract/plugin.ts";
import { NO_PARTS } from "../../core/contract/prompt-part.ts";
import { ENGINE_PATHS, type ModelPath } from "./engine-paths.ts";
import { beginsObject, boundaryOf, fieldText, MultipartReader } from "./multipart-reader.ts";
import { CONTINUED_KEYS, continuedIn } from "./named-object.ts";
import { routeMethod, routePath } from "./route-options.ts";
import { MISSING_MODEL, promptAt } from "./shared-fields.ts";

const route = z
  .strictObject({
    method: routeMethod.default("POST"),
    path: routePath,
    /** Where the model stands: a top-level key of the JSON body (or a form's field), a name in braces of the path, a key of the query. */
    model: z
      .strictObject({ in: z.enum(["body", "path", "query"]).default("body"), name: z.string().min(1).default("model") })
      .prefault({}),
    /** Whether the body may be a form (multipart/form-data) as well as JSON. */
    form: z.boolean().default(false),
    /** Top-level keys whose text counts as load. */
    prompt: z.array(z.string().min(1)).default([]),
    /** Whether a request without a model goes to any ready replica. */
    optional: z.boolean().default(false),
    /** Whether the router may send the request again after a connection broke off. */
    repeatable: z.boolean().default(false),
  })
  .refine(({ model, path }) => model.in !== "path" || path.includes(`{${model.name}}`), {
    message: "the path does not have the model's name in braces, as in /v2/models/{model}/infer",
    path: ["path"],
  });

const options = z.strictObject({
  /** Paths beside those that engines are known to serve; one of these may be listed to read it in another way. */
  routes: z
    .array(route)
    .default([])
    .refine((all) => new Set(all.map(({ path }) => path)).size === all.length, "a path is listed twice; list it once"),
});

/** In a form, a stream is asked for by one of these, as engines read it. */
const TRUE: ReadonlySet<string> = new Set(["true", "1", "on", "yes"]);
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const CONTINUING: ReadonlySet<string> = new Set(ENGINE_PATHS.filter(({ continues }) => continues).map(({ path }) => path));
/** Of a body that is not read. */
const UNREAD: BodyReader = { push() {}, finish() {}, parts: NO_PARTS, spanOf: () => undefined };

export default defineParser({
  type: "model-paths",
  summary: "Routes engines' other paths, such as /v1/rerank and /v1/audio/transcriptions, by the model that a request names.",
  options,
  runsByDefault: true,
  create: ({ routes }) =>
    parserOf([
      ...routes.map((own) => ({ ...own, continues: CONTINUING.has(own.path) })),
      ...ENGINE_PATHS.filter(({ path }) => routes.every((own) => own.path !== path)),
    ]),
});

function parserOf(all: readonly ModelPath[]): Parser {
  const prompt = [...new Set(all.flatMap((each) => each.prompt))];
  const models = all.filter(({ model }) => model.in === "body").map(({ model }) => model.name);
  const byPath = new Map(all.map((each) => [each.path, each]));
  const pathAt = (path: string) => byPath.get(path) ?? all.find((each) => pathPlaces(each.path, path) !== undefined)!;
  return {
    routes: all.map(({ method, path }) => ({ method, path })),
    dialect: "openai",
    keys: [...new Set([...models, "stream", ...prompt, ...(all.some(({ continues }) => continues) ? CONTINUED_KEYS : [])])],
    partKeys: prompt,
    reader(path, headers) {
      const { model, form } = pathAt(path);
      if (model.in !== "body") return UNREAD;
      if (!form) return undefined;
      const contentType = headers.get("content-type") ?? "";
      if (JSON_TYPE.test(contentType)) return undefined;
      return new MultipartReader(boundaryOf(contentType), [model.name, "stream"]);
    },
    parse(body, path, query) {
      const served = pathAt(path);
      const isBody = served.model.in === "body";
      const isForm = isBody && !beginsObject(body.bytes);
      const found = findModel(served, body, path, query, isForm);
      if (found.model === "" && !served.optional) throw new RouterError("missing_model", MISSING_MODEL);
      return {
        ...found,
        isStream: isForm ? TRUE.has(formText(body, "stream").toLowerCase()) : isBody && body.flag("stream"),
        // No engine keeps these prompts in its prefix cache for others.
        promptSpans: [],
        promptTokens: isBody && !isForm ? promptAt(body, served.prompt).tokens : 0,
        maxOutputTokens: 0,
        cacheSalt: "",
        isRepeatable: served.repeatable,
        ...(served.continues && continuedIn(body)),
      };
    },
  };
}

function findModel(
  { model: { in: place, name }, ...served }: ModelPath,
  body: BodyView,
  path: string,
  query: string,
  isForm: boolean,
): FoundModel {
  if (place === "path") return modelInPath(served.path, name, path);
  if (place === "query") return modelInQuery(name, path, query);
  const span = body.span(name);
  if (isForm) return span === undefined ? NO_MODEL : { model: formText(body, name), modelSpan: span, modelIn: "text" };
  const model = body.kind(name) === "string" ? body.text(name) : undefined;
  return model === undefined ? NO_MODEL : { model, modelSpan: span!, modelIn: undefined };
}

/** "" for a field that there is not. */
function formText(body: BodyView, field: string): string {
  const span = body.span(field);
  return span === undefined ? "" : fieldText(body.bytes, span);
}
