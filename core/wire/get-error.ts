import type { TlsFailure } from "./tls-failures.ts";

/** Why there is no response that its reader can use. */
export type GetFailure =
  | "refused" // nobody listens
  | "no such host" // its name is unknown
  | "name lookup failed" // nobody says at the moment whether its name is known
  | "unreachable" // no way leads to the host
  | "timeout"
  | "reset" // the connection ended early, or the caller aborted
  | "invalid" // not HTTP/1.1, or not the document its reader expects
  | TlsFailure
  | "too-large"; // longer than the reader allows

/** That nobody took the connection; what holds the address may have ended. */
export const NOBODY_THERE: ReadonlySet<string> = new Set<GetFailure>([
  ...(["refused", "no such host", "name lookup failed", "unreachable"] as const),
]);

export class GetError extends Error {
  readonly reason: GetFailure;

  constructor(reason: GetFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "GetError";
    this.reason = reason;
  }
}
