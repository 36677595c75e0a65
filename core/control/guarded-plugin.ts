import type { BodyView } from "../contract/body-view.ts";
import type { Outcome } from "../contract/outcome.ts";
import type { PluginKinds } from "../contract/plugin.ts";
import type { InferenceRequest } from "../contract/request.ts";
import type { Span } from "../contract/span.ts";

type Methods = Partial<
  PluginKinds["filter"] & PluginKinds["scorer"] & PluginKinds["picker"] & PluginKinds["parser"] & PluginKinds["observer"]
>;

/**
 * The plugin with copies in the place of what requests are made of, so that nothing that it writes there is sent on. For plugins of one's
 * own: those that come with the program are tested not to write, and get no copies.
 */
export function guarded<Plugin extends object>(plugin: Plugin): Plugin {
  const { filter, refuse, score, chosen, responseHeader, parse, finished } = plugin as Methods;
  const given = <Rest extends unknown[], Result>(method: ((request: InferenceRequest, ...rest: Rest) => Result) | undefined) =>
    method && ((request: InferenceRequest, ...rest: Rest) => method.call(plugin, copyOf(request), ...rest));
  const parsed = parse && ((body: BodyView, path: string) => parse.call(plugin, bodyCopyOf(body), path));
  const methods = {
    ...{ filter: given(filter), refuse: given(refuse), score: given(score), parse: parsed },
    ...{ chosen: given(chosen), responseHeader: given(responseHeader) },
    finished: finished && ((outcome: Outcome) => finished.call(plugin, ofCopy(outcome))),
  };
  // A class has its methods on its prototype, and finds its private fields only as itself.
  const whole = Object.create(plugin) as Plugin;
  for (const key of namesOf(plugin)) {
    const value: unknown = methods[key as keyof typeof methods] ?? plugin[key as keyof Plugin];
    Object.defineProperty(whole, key, { value: typeof value === "function" && !(key in methods) ? value.bind(plugin) : value });
  }
  return whole;
}

/** Of all that it has, its own and its class's. */
function namesOf(plugin: object): readonly string[] {
  const names: string[] = [];
  for (let at = plugin; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
    names.push(...Object.getOwnPropertyNames(at));
  return [...new Set(names)].filter((name) => name !== "constructor");
}

/** One for each request, so that plugins can tell by it what they knew of the request before. */
const copies = new WeakMap<InferenceRequest, InferenceRequest>();

function copyOf(request: InferenceRequest): InferenceRequest {
  const known = copies.get(request);
  if (known !== undefined) return known;
  const copy = makeCopy(request);
  copies.set(request, copy);
  return copy;
}

/** A request whose bytes are copied when they are read. */
function makeCopy(request: InferenceRequest): InferenceRequest {
  const { body: _, headers, modelSpan, promptSpans, ...rest } = request;
  let bytes: Uint8Array | undefined;
  return {
    ...rest,
    modelSpan: spanOf(modelSpan),
    promptSpans: promptSpans.map(spanOf),
    headers: { get: (name) => headers.get(name) },
    get body() {
      bytes ??= request.body.slice();
      return bytes;
    },
  };
}

function ofCopy(outcome: Outcome): Outcome {
  const { request } = outcome;
  // Some of its fields are worked out when they are read, by its class.
  return request === undefined ? outcome : Object.create(outcome, { request: { value: copyOf(request), enumerable: true } });
}

function bodyCopyOf(body: BodyView): BodyView {
  let bytes: Uint8Array | undefined;
  return {
    get bytes() {
      bytes ??= body.bytes.slice();
      return bytes;
    },
    parts: body.parts.map((part) => ({ ...part })),
    span: (key) => body.span(key),
    kind: (key) => body.kind(key),
    text: (key) => body.text(key),
    flag: (key) => body.flag(key),
    count: (key) => body.count(key),
    countElements: (key) => body.countElements(key),
  };
}

const spanOf = ([start, end]: Span): Span => [start, end];
