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
  unknown_path: [404, "not_found_error", false, "NR"],
  method_not_allowed: [405, "invalid_request_error", false, "NR"],
  request_timeout: [408, "timeout_error", true, "DT"],
  body_too_large: [413, "request_too_large", false, "DPE"],
  unsupported_media_type: [415, "invalid_request_error", false, "DPE"],
  expectation_failed: [417, "invalid_request_error", false, "DPE"],
  client_saturated: [429, "rate_limit_error", true, "RL"],
  rate_limit_exceeded: [429, "rate_limit_error", true, "RL"],
  saturated: [429, "rate_limit_error", true, "UO"],
  queue_full: [429, "rate_limit_error", true, "UO"],
  queue_timeout: [429, "rate_limit_error", true, "UO"],
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

/** Marks our errors across copies of this module, because a plugin may be loaded with its own copy. */
const BRAND = Symbol.for("signalbox.RouterError");

/**
 * An error that the client may see. The message is one sentence that names the fix and never quotes the request.
 *
 * @example
 * refuse: () => new RouterError("no_ready_endpoint", "No replica of this tier is ready; ask for another tier.")
 */
export class RouterError extends Error {
  readonly [BRAND] = true;
  readonly code: ErrorCode;
  /** Seconds for a Retry-After header; 0 means none. */
  readonly retryAfterS: number;
  /** Methods for an Allow header (405 only). */
  readonly allow: string;
  /** Which plugin is at fault, and how, for the operator (plugin_fault only). */
  readonly fault: { readonly plugin: string; readonly text: string } | undefined;

  constructor(
    code: ErrorCode,
    message: string,
    extra: Partial<Pick<RouterError, "retryAfterS" | "allow" | "fault" | "cause">> = {},
  ) {
    super(message, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.name = "RouterError";
    this.code = code;
    this.retryAfterS = extra.retryAfterS ?? 0;
    this.allow = extra.allow ?? "";
    this.fault = extra.fault;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && BRAND in value;
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

/** Turns anything thrown into an error that a client may see. What is not a RouterError becomes a 500 without details. */
export function asRouterError(thrown: unknown): RouterError {
  if (thrown instanceof RouterError) return thrown;
  return new RouterError("internal_error", "The router failed on this request; its log shows the cause.", { cause: thrown });
}
