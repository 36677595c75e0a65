import { wasMalformed } from "./blame.ts";
import type { ErrorCode } from "./errors.ts";
import type { Attempt, AttemptFailure, Outcome } from "./outcome.ts";

/** Why a response is not what a client hoped for, in short codes. Envoy's, where it has one for the same thing; ours are UM, EJ, SD, IE. */
export const RESPONSE_FLAGS = {
  UF: "no connection to the replica: refused, unreachable, or not in time",
  UC: "the replica closed the connection, or went away, before its response was complete",
  UT: "the replica sent nothing for too long",
  UPE: "the replica's response was not valid HTTP",
  UM: "the response has status 2xx and lacks what its API's responses have",
  EJ: "the replica made no progress and was ejected, so its connection was cut",
  UH: "no replica that is up, and not ejected, serves the target",
  UO: "no connection to spare: `limits.upstreamConnections`",
  URX: "the request failed or was refused at several tries, and may not be tried again",
  RL: "the client has too many requests under way: `limits.perClientRequests`",
  OM: "the router is short of memory: `limits.memoryBytes`",
  NR: "no such path, method or model",
  DC: "the client left before its response was complete",
  DT: "the client took too long to send the request",
  DPE: "the request is refused as it is; the error code says why",
  SD: "the router stopped",
  IE: "a fault of the router or of a plugin; the operator's log has the cause",
} as const;

export type ResponseFlag = keyof typeof RESPONSE_FLAGS;

/** "last" stands for the flag of the last try. */
const OF_ERROR: Readonly<Record<ErrorCode, ResponseFlag | "last">> = {
  bad_request: "DPE",
  invalid_json: "DPE",
  missing_model: "DPE",
  invalid_value: "DPE",
  origin_not_allowed: "DPE",
  body_too_large: "DPE",
  unsupported_media_type: "DPE",
  expectation_failed: "DPE",
  head_too_large: "DPE",
  not_implemented: "DPE",
  version_not_supported: "DPE",
  request_timeout: "DT",
  model_not_found: "NR",
  unknown_path: "NR",
  method_not_allowed: "NR",
  client_saturated: "RL",
  saturated: "UO",
  overloaded: "OM",
  no_ready_endpoint: "UH",
  target_unavailable: "UH",
  upstream_unreachable: "last",
  upstream_reset: "last",
  upstream_invalid: "last",
  upstream_timeout: "last",
  shutting_down: "SD",
  plugin_fault: "IE",
  internal_error: "IE",
};

const OF_FAILURE: Readonly<Record<AttemptFailure, ResponseFlag>> = {
  "connect-failed": "UF",
  "connect-timeout": "UF",
  stale: "UC",
  reset: "UC",
  gone: "UC",
  timeout: "UT",
  wedged: "EJ",
  invalid: "UPE",
  malformed: "UM",
  aborted: "DC",
  saturated: "UO",
  removed: "UH",
};

/** The flags of a request that has ended; none if nothing is to be said. */
export function flagsOf({ error, ending, attempts, status }: Pick<Outcome, "error" | "ending" | "attempts" | "status">) {
  const flags: ResponseFlag[] = [];
  if (error !== undefined) flags.push(flagOfError(error.code, attempts));
  else if (wasMalformed(attempts)) flags.push("UM");
  if (ending === "client-left") flags.push("DC");
  const hasFailed = error !== undefined ? status >= 500 || ending === "broken" : status === 429 || status === 503;
  if (hasFailed && attempts.filter(wasSent).length > 1) flags.push("URX");
  return flags;
}

/** A plugin may refuse with a code of its own making. */
function flagOfError(code: string, attempts: readonly Attempt[]): ResponseFlag {
  const flag = Object.hasOwn(OF_ERROR, code) ? OF_ERROR[code as ErrorCode] : "IE";
  return flag === "last" ? flagOfLast(attempts) : flag;
}

/** The try that failed; later ones may not have been sent. */
function flagOfLast(attempts: readonly Attempt[]): ResponseFlag {
  for (const { result } of [...attempts].reverse()) {
    if (typeof result === "string" && result !== "saturated" && result !== "removed") return OF_FAILURE[result];
  }
  return "UF";
}

function wasSent({ result }: Attempt): boolean {
  return result !== "saturated" && result !== "removed";
}
