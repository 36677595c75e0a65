import { ERRORS, type ErrorCode } from "../contract/errors.ts";
import { ATTEMPT_FAILURES, type Attempt, type RequestRecord } from "../contract/outcome.ts";
import { saidStatusOf, wasMalformed } from "./blame.ts";

/** Why a response is not what a client hoped for, in short codes. Envoy's, where it has one for the same thing; ours are UM, EJ, SD, IE. */
export const RESPONSE_FLAGS = {
  UF: "no connection to the replica: refused, unreachable, or not in time",
  UC: "the replica closed the connection, or went away, before its response was complete",
  UT: "the replica sent nothing for too long",
  UPE: "the replica's response was not valid HTTP",
  UM: "the response has status 2xx and lacks what its API's responses have",
  EJ: "the replica made no progress, so its connection was cut",
  UH: "no replica that is up, and not ejected, serves the target",
  UO: "no connection to spare (`limits.upstreamConnections`), or too long or too many in line for room (`admission`)",
  URX: "the request failed or was refused at several tries, and may not be tried again",
  RL: "a limit of the client, or of its key: `limits.perClientRequests`, `spec.auth`",
  OM: "the router is short of memory: `limits.memoryBytes`",
  NR: "no such path, method or model",
  DC: "the client left before its response was complete",
  DT: "the client took too long to send the request",
  UAEX: "no key, a wrong one, or one that may not do this",
  DPE: "the request is refused as it is; the error code says why",
  SD: "the router stopped",
  IE: "a fault of the router or of a plugin; the operator's log has the cause",
} as const;

export type ResponseFlag = keyof typeof RESPONSE_FLAGS;

/** The flags of a request that has ended; none if nothing is to be said. */
export function flagsOf(outcome: RequestRecord) {
  const { error, ending, attempts } = outcome;
  const status = saidStatusOf(outcome);
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
  const flag = Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode][3] : "IE";
  return flag === "of the last try" ? flagOfLast(attempts) : flag;
}

/** The try that failed; later ones may not have been sent. */
function flagOfLast(attempts: readonly Attempt[]): ResponseFlag {
  for (const { result } of [...attempts].reverse()) {
    if (typeof result === "string" && result !== "saturated" && result !== "removed") return ATTEMPT_FAILURES[result];
  }
  return "UF";
}

function wasSent({ result }: Attempt): boolean {
  return result !== "saturated" && result !== "removed";
}
