/** The API whose error shape the client expects. */
export type Dialect = "openai" | "responses" | "anthropic";

/**
 * Every error that the router itself can respond with: HTTP status, error type, whether trying again can help, and the flag that it has
 * in the access log.
 */
export const ERRORS = {
  bad_request: [400, "invalid_request_error", false, "DPE"],
  invalid_json: [400, "invalid_request_error", false, "DPE"],
  missing_model: [400, "invalid_request_error", false, "DPE"],
  invalid_value: [400, "invalid_request_error", false, "DPE"],
  context_length_exceeded: [400, "invalid_request_error", false, "DPE"],
  invalid_api_key: [401, "authentication_error", false, "UAEX"],
  model_not_allowed: [403, "permission_error", false, "UAEX"],
  origin_not_allowed: [403, "permission_error", false, "DPE"],
  adapters_closed: [403, "permission_error", false, "DPE"],
  model_not_found: [404, "not_found_error", false, "NR"],
  previous_response_not_found: [404, "invalid_request_error", false, "DPE"],
  stored_not_found: [404, "invalid_request_error", false, "DPE"],
  unknown_path: [404, "not_found_error", false, "NR"],
  method_not_allowed: [405, "invalid_request_error", false, "NR"],
  session_elsewhere: [409, "invalid_request_error", false, "DPE"],
  request_timeout: [408, "timeout_error", true, "DT"],
  body_too_large: [413, "request_too_large", false, "DPE"],
  unsupported_media_type: [415, "invalid_request_error", false, "DPE"],
  expectation_failed: [417, "invalid_request_error", false, "DPE"],
  client_saturated: [429, "rate_limit_error", true, "RL"],
  rate_limit_exceeded: [429, "rate_limit_error", true, "RL"],
  saturated: [429, "rate_limit_error", true, "UO"],
  queue_full: [429, "rate_limit_error", true, "UO"],
  queue_timeout: [429, "rate_limit_error", true, "UO"],
  prompt_quarantined: [422, "invalid_request_error", false, "DPE"],
  upgrade_required: [426, "invalid_request_error", false, "DPE"],
  head_too_large: [431, "invalid_request_error", false, "DPE"],
  plugin_fault: [500, "api_error", false, "IE"],
  internal_error: [500, "api_error", false, "IE"],
  not_implemented: [501, "invalid_request_error", false, "DPE"],
  upstream_unreachable: [502, "api_error", true, "of the last try"],
  upstream_reset: [502, "api_error", false, "of the last try"],
  upstream_invalid: [502, "api_error", false, "of the last try"],
  authentication_unavailable: [503, "api_error", true, "UAEX"],
  overloaded: [503, "overloaded_error", true, "OM"],
  no_ready_endpoint: [503, "overloaded_error", true, "UH"],
  target_unavailable: [503, "overloaded_error", true, "UH"],
  shutting_down: [503, "overloaded_error", true, "SD"],
  upstream_timeout: [504, "timeout_error", false, "of the last try"],
  version_not_supported: [505, "invalid_request_error", false, "DPE"],
} as const satisfies Record<string, readonly [number, string, boolean, string]>;

export type ErrorCode = keyof typeof ERRORS;

/** What an error may say beside its code and message. */
export interface RouterErrorOptions extends ErrorOptions {
  /** Seconds for a Retry-After header; 0 means none. */
  readonly retryAfterS?: number;
  /** Methods for an Allow header (405 only). */
  readonly allow?: string;
  /** Codings for an Accept-Encoding header (415 only). */
  readonly accepts?: string;
  /** Which plugin is at fault, and how, for the operator (plugin_fault only). */
  readonly fault?: { readonly plugin: string; readonly text: string } | undefined;
}

/** Marks our errors across copies of this module, because a plugin may be loaded with its own copy. */
const BRAND = Symbol.for("signalbox.RouterError");

/**
 * An error that the client may see. The message is one sentence that names the fix and never quotes the request.
 *
 * @example
 * refuse: () => new RouterError("no_ready_endpoint", "No replica of this tier is ready; ask for another tier.")
 */
export class RouterError extends Error implements RouterErrorOptions {
  readonly [BRAND] = true;
  readonly code: ErrorCode;
  readonly retryAfterS: number;
  readonly allow: string;
  readonly accepts: string;
  readonly fault: RouterErrorOptions["fault"];

  constructor(
    code: ErrorCode,
    message: string,
    { cause, retryAfterS = 0, allow = "", accepts = "", fault }: RouterErrorOptions = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "RouterError";
    this.code = code;
    this.retryAfterS = retryAfterS;
    this.allow = allow;
    this.accepts = accepts;
    this.fault = fault;
    const why = whyUntellable(this);
    if (why !== "") throw new TypeError(why);
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    try {
      return typeof value === "object" && value !== null && BRAND in value;
    } catch {
      // A plugin's proxy.
      return false;
    }
  }

  /** The error's `type`, in the words that both APIs use. */
  get kind(): string {
    return ERRORS[this.code][1];
  }

  get status(): number {
    return ERRORS[this.code][0];
  }

  /** False if a client's automatic retry can only repeat the failure. */
  get isRetryable(): boolean {
    return ERRORS[this.code][2];
  }
}

/**
 * Why this error can't be told to a client, "" if it can: plugins in JavaScript make some that have no status, or that would put something
 * else into the head of a response.
 */
export function whyUntellable(error: RouterError): string {
  try {
    const { code, message, retryAfterS, allow, accepts = "" }: { readonly [Key in keyof RouterError]: unknown } = error;
    if (typeof code !== "string" || !Object.hasOwn(ERRORS, code)) return `there is no error code "${String(code)}"`;
    if (typeof message !== "string") return "the message of an error is a sentence";
    if (typeof retryAfterS !== "number" || Number.isNaN(retryAfterS)) return "retryAfterS is a number of seconds";
    if (typeof accepts !== "string" || !/^[a-z, ]*$/.test(accepts)) return 'accepts is a list of codings, as "gzip, br"';
    return typeof allow === "string" && /^[A-Z, ]*$/.test(allow) ? "" : 'allow is a list of methods, as "GET, HEAD"';
  } catch {
    return "the error can't be read";
  }
}

/** Turns anything thrown into an error that a client may see. What is not a RouterError becomes a 500 without details. */
export function asRouterError(thrown: unknown): RouterError {
  if (thrown instanceof RouterError && whyUntellable(thrown) === "") return thrown;
  return new RouterError("internal_error", "The router failed on this request; its log shows the cause.", { cause: thrown });
}
