import type { TlsFailure } from "./tls-failures.ts";

/** Why there is no response that its reader can use. */
export type GetFailure =
  | "refused" // nobody listens
  | "unreachable" // the host can't be reached, or its name is unknown
  | "timeout"
  | "reset" // the connection ended early, or the caller aborted
  | "invalid" // not HTTP/1.1, or not the document its reader expects
  | TlsFailure
  | "too-large"; // longer than the reader allows

export class GetError extends Error {
  readonly reason: GetFailure;

  constructor(reason: GetFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "GetError";
    this.reason = reason;
  }
}
