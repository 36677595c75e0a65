import { asRouterError, type ErrorCode, RouterError } from "../contract/errors.ts";
import { WireError, type WireErrorCode } from "../wire/wire-error.ts";

const CODES: Record<WireErrorCode, ErrorCode> = {
  bad_head: "bad_request",
  bad_framing: "bad_request",
  head_too_large: "head_too_large",
  bad_version: "version_not_supported",
  not_implemented: "not_implemented",
};

/** The error that a client gets for a request that is not strict HTTP. */
function refusalOf(error: WireError): RouterError {
  return new RouterError(CODES[error.code], error.message);
}

/** The error that a client gets for anything thrown while its request was read. */
export function errorOf(thrown: unknown): RouterError {
  return thrown instanceof WireError ? refusalOf(thrown) : asRouterError(thrown);
}

export function headTimeout(): RouterError {
  return new RouterError("request_timeout", "The request head took too long; send it in one piece.");
}

export function bodyTimeout(): RouterError {
  return new RouterError("request_timeout", "The request body took too long; send it faster or make it smaller.");
}

export function expectationFailed(): RouterError {
  return new RouterError("expectation_failed", "Only the expectation 100-continue is supported.");
}
