import { type ErrorCode, RouterError } from "../contract/errors.ts";
import type { WireError, WireErrorCode } from "../wire/wire-error.ts";

const CODES: Record<WireErrorCode, ErrorCode> = {
  bad_head: "bad_request",
  bad_framing: "bad_request",
  head_too_large: "head_too_large",
  bad_version: "version_not_supported",
  not_implemented: "not_implemented",
};

/** The error for a client whose request is not strict HTTP. */
export function refusalOf(error: WireError): RouterError {
  return new RouterError(CODES[error.code], error.message);
}
