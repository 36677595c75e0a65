import { RouterError } from "../../../core/contract/errors.ts";
import type { KeptObject } from "../../../core/contract/request.ts";

const NOUNS: Readonly<Record<string, string>> = {
  responses: "response",
  files: "file",
  batches: "batch",
  conversations: "conversation",
};

/** How a client gets on without it. */
type Remedy = Readonly<Record<string, string>>;
const REMEDIES: Remedy = {
  responses: "ask for a new one",
  files: "upload the file again",
  batches: "create the batch again",
  conversations: "begin a new one",
};

const nounOf = (kind: string) => NOUNS[kind] ?? "object";

/** 404 in the API's shape: for a response that a request continues, the code that its clients know. */
function missing({ kind }: KeptObject, isLookup: boolean, why: string): RouterError {
  if (kind === "responses" && !isLookup)
    return new RouterError("previous_response_not_found", `${why}; send the whole conversation as "input".`);
  return new RouterError("stored_not_found", `${why}; ${REMEDIES[kind] ?? "make it again"}.`);
}

export function replicaGone(named: KeptObject, isLookup: boolean): RouterError {
  return missing(named, isLookup, `The replica that kept this ${nounOf(named.kind)} is gone, and with it what it kept`);
}

export function replicaLeaves(named: KeptObject): RouterError {
  return missing(named, false, `The replica that keeps this ${nounOf(named.kind)} is being taken away, and takes no new work`);
}

export function notOfClient(named: KeptObject, isLookup: boolean): RouterError {
  const noun = nounOf(named.kind);
  return missing(named, isLookup, `No ${noun} with this id is known of this client: it is too old, or another client's`);
}

export function doubled(named: KeptObject, isLookup: boolean): RouterError {
  const why = `This id was given to more than one ${nounOf(named.kind)}, by two replicas or to two clients, so it is not known which one is meant`;
  return missing(named, isLookup, why);
}

export function notServed({ kind }: { readonly kind: string }): RouterError {
  const message = `This router does not serve that path: what is asked for is kept by one replica, and looking for it is turned off (spec.stored is false); ask the replica that keeps the ${nounOf(kind)} itself.`;
  return new RouterError("not_implemented", message);
}

export function twoNamed(): RouterError {
  return new RouterError(
    "invalid_value",
    'Send "previous_response_id" or "conversation", not both: a request continues one of them.',
  );
}

export function tooManyQuestions(): RouterError {
  const message = "Replicas are being asked for many unknown ids already; try again shortly.";
  return new RouterError("saturated", message, { retryAfterS: 1 });
}

export function notAllAnswered({ kind }: KeptObject): RouterError {
  const message = `No replica says that it keeps this ${nounOf(kind)}, and at least one could not be asked; try again shortly.`;
  return new RouterError("no_ready_endpoint", message, { retryAfterS: 1 });
}
