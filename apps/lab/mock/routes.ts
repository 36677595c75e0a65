import { chatCompletions, completions, generate } from "./apis/choices.ts";
import { conversationTokens } from "./apis/conversation.ts";
import { embed } from "./apis/embeddings.ts";
import { messages, messagesPrompt } from "./apis/messages.ts";
import { responseNotFound, responses } from "./apis/responses.ts";
import type { GenerationApi } from "./call.ts";
import { type Exchange, randomHex } from "./exchange.ts";
import { optionalString, parseBody, requiredList } from "./fields.ts";
import { generateAnswer } from "./generation.ts";
import { Problem, wrongContentType } from "./problem.ts";
import type { ReplicaState } from "./state.ts";
import { tokenize } from "./tokens.ts";

/** Responds to one request, now or later. Throws a Problem before anything is sent. */
type Handler = (exchange: Exchange, state: ReplicaState) => void;

/** The handlers of one path, by method. */
export interface Route {
  readonly methods: Readonly<Record<string, Handler>>;
  readonly isAnthropic: boolean;
}

const GENERATION_APIS = [completions, chatCompletions, responses, messages, generate];
const EMBEDDINGS_PATH = "/v1/embeddings";

/** The six inference APIs; faults apply to these by default. */
export const API_PATHS: readonly string[] = [...GENERATION_APIS.map((api) => api.path), EMBEDDINGS_PATH];

/** The route of a path; undefined if a replica of this kind has none. */
export function findRoute(path: string, isEmbedding: boolean): Route | undefined {
  const routes = isEmbedding ? EMBEDDING_ROUTES : GENERATION_ROUTES;
  return routes.get(path) ?? SHARED_ROUTES.get(path) ?? (isEmbedding ? undefined : storedResponseRoute(path));
}

const get = (handler: Handler): Route => ({ methods: { GET: handler }, isAnthropic: false });
const post = (handler: Handler, isAnthropic = false): Route => ({
  methods: { POST: (exchange, state) => handler(requireJson(exchange), state) },
  isAnthropic,
});

const SHARED_ROUTES: ReadonlyMap<string, Route> = new Map([
  ["/health", get((exchange) => exchange.json(200, {}))],
  ["/ping", get((exchange) => exchange.json(200, {}))],
  ["/version", get((exchange) => exchange.json(200, { version: "0.32.0" }))],
  ["/load", get((exchange, { engine }) => exchange.json(200, { server_load: engine.running + engine.waiting }))],
  ["/metrics", get((exchange, { metrics }) => exchange.send(200, metrics.page(), "text/plain; version=1.0.0; charset=utf-8"))],
  ["/v1/models", get(listModels)],
  ["/tokenize", post(countTokens)],
]);

const GENERATION_ROUTES: ReadonlyMap<string, Route> = new Map([
  ...GENERATION_APIS.map((api): [string, Route] => [api.path, post(generation(api), api.isAnthropic)]),
  ["/v1/messages/count_tokens", post(countMessageTokens, true)],
  ["/v1/load_lora_adapter", post((exchange, { adapters }) => exchange.send(200, adapters.load(bodyOf(exchange)), undefined))],
  ["/v1/unload_lora_adapter", post((exchange, { adapters }) => exchange.send(200, adapters.unload(bodyOf(exchange)), undefined))],
]);

const EMBEDDING_ROUTES: ReadonlyMap<string, Route> = new Map([[EMBEDDINGS_PATH, post(embed)]]);

/** By default, vLLM stores no responses, so every id is unknown. */
function storedResponseRoute(path: string): Route | undefined {
  const [, id, cancel] = /^\/v1\/responses\/([^/]+)(\/cancel)?$/.exec(path) ?? [];
  if (id === undefined) return undefined;
  const handler: Handler = () => {
    throw responseNotFound(id);
  };
  return cancel ? { methods: { POST: handler }, isAnthropic: false } : get(handler);
}

const bodyOf = (exchange: Exchange) => parseBody(exchange.record.body);

function requireJson(exchange: Exchange): Exchange {
  const type = exchange.record.headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
  if (!/^application\/(json|[^;]+\+json)\s*(;|$)/i.test(type.trim())) throw wrongContentType();
  return exchange;
}

function generation(api: GenerationApi): Handler {
  return (exchange, state) => {
    if (api === generate && !state.settings.hasGenerate) {
      const hint = "Restart vllm serve with --enable-scale-out to enable them.";
      throw new Problem(403, "PermissionDeniedError", `Scale-out endpoints are disabled. ${hint}`);
    }
    generateAnswer(api, exchange, state);
  };
}

const PERMISSION = {
  allow_create_engine: false,
  allow_sampling: true,
  allow_logprobs: true,
  allow_search_indices: false,
  allow_view: true,
  allow_fine_tuning: false,
  organization: "*",
  group: null,
  is_blocking: false,
};

function listModels(exchange: Exchange, { settings, adapters }: ReplicaState): void {
  const created = Math.floor(settings.clock.wall() / 1000);
  const card = (id: string, root: string, parent: string | null) => ({
    id,
    object: "model",
    created,
    owned_by: "vllm",
    root,
    parent,
    max_model_len: parent === null ? settings.maxModelTokens : null,
    permission: [{ id: `modelperm-${randomHex(16)}`, object: "model_permission", created, ...PERMISSION }],
  });
  const loaded = [...adapters.loaded].map(([name, path]) => card(name, path, settings.model));
  exchange.json(200, { object: "list", data: [card(settings.model, settings.model, null), ...loaded] });
}

function countTokens(exchange: Exchange, { settings, adapters }: ReplicaState): void {
  const body = bodyOf(exchange);
  adapters.resolve(optionalString(body, "model"));
  const prompt = optionalString(body, "prompt");
  const tokens = prompt === undefined ? conversationTokens(requiredList(body, "messages"), "body.messages") : tokenize(prompt);
  exchange.json(200, { count: tokens.length, max_model_len: settings.maxModelTokens, tokens, token_strs: null });
}

function countMessageTokens(exchange: Exchange, { adapters }: ReplicaState): void {
  const body = bodyOf(exchange);
  const tokens = messagesPrompt(body).length;
  adapters.resolve(optionalString(body, "model"));
  exchange.json(200, { input_tokens: tokens, context_management: { original_input_tokens: tokens } });
}
