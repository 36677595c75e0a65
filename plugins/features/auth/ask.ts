import type { Named } from "../../../core/active-config.ts";
import type { Authenticator } from "../../../core/contract/authenticator.ts";
import { asRouterError, type RouterError } from "../../../core/contract/errors.ts";
import type { Principal } from "../../../core/contract/principal.ts";
import { failedPlugin, refusalBy } from "../../../core/plugin-watch/plugin-faults.ts";
import { refused, type Shown, twoKeys } from "./credential.ts";

type Authenticators = readonly Named<Authenticator>[];

/**
 * The principal of the one known credential: some clients send what they have left of another server beside the key that is meant. Throws,
 * or rejects with, RouterError if none is known, or two are.
 */
export function whoAsks({ credential, other }: Shown, authenticators: Authenticators): Principal | Promise<Principal> {
  return other === "" ? whoShows(credential, authenticators) : onlyKnown([credential, other], authenticators);
}

async function onlyKnown(credentials: readonly string[], authenticators: Authenticators): Promise<Principal> {
  const answers = await Promise.all(credentials.map((each) => knownOrRefused(each, authenticators)));
  const known = answers.filter((answer): answer is Principal => "name" in answer && "tenant" in answer);
  if (known.length > 1) throw twoKeys();
  if (known.length === 0) throw answers[0];
  return known[0]!;
}

/** The principal, or why the credential is none. Rejects where that can't be known. */
async function knownOrRefused(credential: string, authenticators: Authenticators): Promise<Principal | RouterError> {
  try {
    return await whoShows(credential, authenticators);
  } catch (thrown) {
    const error = asRouterError(thrown);
    if (error.code === "invalid_api_key") return error;
    throw thrown;
  }
}

/** The principal of this credential, from the first authenticator that knows it. Throws, or rejects with, RouterError if none does. */
export function whoShows(credential: string, authenticators: Authenticators): Principal | Promise<Principal> {
  for (let at = 0; at < authenticators.length; at++) {
    const asked = authenticators[at]!;
    const answer = answerOf(asked, credential);
    if (answer instanceof Promise) return after(answer, asked, credential, authenticators.slice(at + 1));
    if (answer !== undefined) return checked(answer, asked);
  }
  throw refused("The router knows no such key; check it, or ask the operator for one.");
}

async function after(
  answer: Promise<Principal | undefined>,
  asked: Named<Authenticator>,
  credential: string,
  others: Authenticators,
): Promise<Principal> {
  const principal = await answer.catch((thrown: unknown) => {
    throw asRefusal(thrown, asked);
  });
  return principal === undefined ? whoShows(credential, others) : checked(principal, asked);
}

function answerOf(asked: Named<Authenticator>, credential: string): ReturnType<Authenticator["authenticate"]> {
  try {
    return asked.plugin.authenticate(credential);
  } catch (thrown) {
    throw asRefusal(thrown, asked);
  }
}

/** A refusal, or a fault of the plugin; either way nobody comes in. */
function asRefusal(thrown: unknown, asked: Named<Authenticator>): RouterError {
  return refusalBy("authenticator", asked, thrown);
}

function checked(principal: Principal, asked: Named<Authenticator>): Principal {
  const { name, tenant, limits } = principal;
  if (typeof name !== "string" || name === "" || typeof tenant !== "string" || typeof limits !== "object")
    throw failedPlugin("authenticator", asked, "it gave a principal without a name, a tenant or limits");
  return asked.type === OPERATORS_OWN ? principal : vouchedFor(principal, asked.name);
}

/** The operator chooses the names of keys. Others choose theirs, which must not be one of these: it would be the same account and salt. */
const OPERATORS_OWN = "keys";

/** No name of a key, a tenant or a plugin has a colon. Written out, because the plugin's object may have more. */
function vouchedFor({ name, tenant, priority, models, limits }: Principal, by: string): Principal {
  return { name: `${by}:${name}`, tenant: `${by}:${tenant}`, priority, models, limits };
}
