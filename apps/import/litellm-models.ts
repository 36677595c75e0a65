import { isMapping } from "../../config/read/problems.ts";
import { counted } from "../../core/report/number-text.ts";
import type { Draft } from "./draft.ts";
import { notUnderstood, type Taken } from "./finding.ts";
import { keyInVariable, numberOf, secretLeftOut, type Take } from "./taking.ts";

/** Providers of LiteLLM that mean a server of one's own, which speaks OpenAI's API, where `api_base` is given. */
const SELF_HOSTED: ReadonlySet<string> = new Set(
  "hosted_vllm vllm openai custom_openai openai_like text-completion-openai lm_studio llamafile xinference ollama ollama_chat docker_model_runner litellm_proxy nvidia_nim infinity huggingface oobabooga".split(
    " ",
  ),
);
/** Hosts of companies that sell models; an OpenAI-like base there is not one's own. */
const PROVIDERS =
  /(^|\.)(openai\.com|azure\.com|anthropic\.com|googleapis\.com|mistral\.ai|groq\.com|together\.(ai|xyz)|deepseek\.com|fireworks\.ai|openrouter\.ai|perplexity\.ai|cohere\.(ai|com)|x\.ai|amazonaws\.com|nvidia\.com|huggingface\.(co|cloud)|deepinfra\.com|cerebras\.ai|sambanova\.ai|anyscale\.com|moonshot\.(ai|cn)|aliyuncs\.com)$/i;
const NO_CATALOGUE = "a provider's model: this router has no providers, so clients ask there, or through a gateway for providers";
/** What people write where a server wants no key. */
const NO_KEY = /^(none|null|empty|no-key|not-needed|dummy|fake[-_]?key|anything|x+)$/i;

const LIMITS =
  "how much a client may ask is in spec.auth (docs/keys.md), how much a replica takes in spec.admission (docs/admission.md)";
export const PRICE = "there is no price of a request here";

/** Keys of an entry besides its names, address, key and weight. */
const OTHERS: Readonly<Record<string, Taken>> = {
  ...all(
    "rpm tpm itpm otpm max_parallel_requests default_api_key_tpm_limit default_api_key_rpm_limit max_budget budget_duration",
    ["left out", LIMITS],
  ),
  ...all("input_cost_per_token output_cost_per_token input_cost_per_second output_cost_per_second", ["no meaning here", PRICE]),
  ...all("timeout stream_timeout max_retries num_retries", [
    "left out",
    "times and retries are the same for all replicas: spec.limits",
  ]),
  ...all(
    "temperature max_tokens max_completion_tokens top_p top_k stop seed frequency_penalty presence_penalty extra_body drop_params additional_drop_params merge_reasoning_content_in_choices supports_system_message use_chat_completions_api",
    ["left out", "bodies pass unchanged but for the model's name: clients send it"],
  ),
  ...all("extra_headers headers", ["left out", "headers of clients pass; a fixed one needs a rewriter plugin"]),
  ...all("custom_llm_provider", ["no meaning here", "replicas are spoken to in the API that clients use"]),
  ...all("tags", ["left out", "replicas may have labels, and filters select by them: spec.pool.endpoints[].labels"]),
  ...all("order", ["left out", "a rewrite's weight 0 keeps a target out; there is no order of replicas"]),
  ...all("organization api_version region_name litellm_credential_name", ["no meaning here", "it is a provider's"]),
  ...all("ssl_verify", ["left out", "TLS to replicas is in spec.pool.tls (docs/tls.md)"]),
};

function all(names: string, taken: Taken): Readonly<Record<string, Taken>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, taken]));
}

/** `model_list`. */
export const takeModels: Take = ({ value, lineAt }, draft) => {
  if (!Array.isArray(value)) return notUnderstood("a list of models is wanted");
  const before = draft.endpoints.length;
  for (const [index, entry] of value.entries()) takeModel(entry, index, lineAt([index]), draft);
  return ["taken over", `${counted(draft.endpoints.length - before, "replica")} of ${counted(value.length, "entry", "entries")}`];
};

function takeModel(entry: unknown, index: number, line: number, draft: Draft): void {
  const at = `model_list[${index}]`;
  const say = (key: string, taken: Taken) => draft.find(key === "" ? at : `${at}.${key}`, line, taken);
  const { model_name: name, litellm_params: params, model_info: info, ...rest } = isMapping(entry) ? entry : {};
  for (const key of Object.keys(rest)) say(key, otherOf(key) ?? notUnderstood("no such key is known here"));
  if (info !== undefined) say("model_info", ["no meaning here", "what a model can is asked of its replicas (/v1/models)"]);
  const { model, api_base, base_url, api_key, weight, ...others } = isMapping(params) ? params : {};
  const base = api_base ?? base_url;
  if (typeof name !== "string" || typeof model !== "string")
    return say("", notUnderstood("model_name and litellm_params.model are wanted"));
  const [provider = "", target = ""] = model.includes("/") ? model.split(/\/(.*)/s, 2) : ["openai", model];
  if (
    base === undefined ||
    !SELF_HOSTED.has(others["custom_llm_provider"] === undefined ? provider : String(others["custom_llm_provider"]))
  )
    return say("", ["left out", `${NO_CATALOGUE} (${provider})`]);
  if (typeof base !== "string") return say("", notUnderstood("its api_base is no address"));
  const address = addressOf(base);
  if (address === undefined)
    return say("", notUnderstood("its api_base names a variable that is not set here: set it, or write the address"));
  if (isProviders(address)) return say("", ["left out", NO_CATALOGUE]);
  const key = keyOf(api_key);
  const [effect, why] = draft.addEndpoint(address, key.auth === undefined ? {} : { auth: key.auth });
  const isListed = effect === "taken over" || effect === "changed";
  say("", [effect, isListed ? `${why}; ${takeName(name, target, weight, draft)}` : why]);
  if (isListed && !name.includes("*")) draft.addPlace(name, address);
  if (key.taken !== undefined) say("litellm_params.api_key", effect === "changed" ? [effect, why] : key.taken);
  if (weight !== undefined && weight !== null) say("litellm_params.weight", weightTaken(weight));
  if (api_base !== undefined && base_url !== undefined) say("litellm_params.base_url", ["left out", "api_base counts"]);
  for (const other of Object.keys(others))
    say(`litellm_params.${other}`, otherOf(other) ?? notUnderstood("no such key is known here"));
}

const otherOf = (key: string) => (Object.hasOwn(OTHERS, key) ? OTHERS[key] : undefined);

const VARIABLE = /^os\.environ\/(\w+)$/;

/** The value of a variable where LiteLLM reads one. */
function addressOf(base: string): string | undefined {
  const variable = VARIABLE.exec(base)?.[1];
  return variable === undefined ? base : process.env[variable];
}

function isProviders(address: string): boolean {
  try {
    return PROVIDERS.test(new URL(address).hostname);
  } catch {
    return false;
  }
}

/** The key of a replica, where it can be taken over, and what became of it; nothing where there is none. */
function keyOf(key: unknown): { readonly auth?: { readonly bearer: string }; readonly taken?: Taken } {
  if (key === undefined || key === null || key === "") return {};
  if (typeof key === "string" && NO_KEY.test(key)) return { taken: ["no meaning here", "it stands for no key"] };
  const variable = typeof key === "string" ? VARIABLE.exec(key)?.[1] : undefined;
  if (variable === undefined) return { taken: secretLeftOut("auth: { bearer: env:NAME } at its endpoint") };
  const auth = keyInVariable(variable);
  if (auth !== undefined) return { auth, taken: ["taken over", "the endpoint's auth"] };
  const why = `${variable} is not set here, and a config whose key is missing does not load: set it, and write auth: { bearer: env:${variable} } at its endpoint`;
  return { taken: ["left out", why] };
}

/** Lets the name of clients become that of the replica; returns what became of it. */
function takeName(name: string, target: string, weight: unknown, draft: Draft): string {
  if (name.includes("*") || target.includes("*"))
    return "every name that a replica lists is served; rewrites match whole names, so a pattern is none";
  draft.addAlias(name, target, shareOf(weight) ?? 1);
  return name === target ? "its name is the replica's" : "its name by an InferenceModelRewrite";
}

/** The share that a weight says; undefined for one that says none. */
function shareOf(weight: unknown): number | undefined {
  const share = numberOf(weight);
  return share !== undefined && share >= 0 ? share : undefined;
}

function weightTaken(weight: unknown): Taken {
  return shareOf(weight) === undefined
    ? notUnderstood("a number from 0 is wanted; it counts as 1")
    : [
        "changed",
        "weights share a name's requests between different models of replicas, by an InferenceModelRewrite; between replicas of the same model the profile decides by their load and caches",
      ];
}
