export type WireErrorCode = "bad_head" | "head_too_large" | "bad_version" | "bad_framing" | "not_implemented";

/** Thrown for bytes that are not strict HTTP/1.1. The message names the fix and quotes nothing. */
export class WireError extends Error {
  readonly code: WireErrorCode;

  constructor(code: WireErrorCode, message: string) {
    super(message);
    this.name = "WireError";
    this.code = code;
  }
}
