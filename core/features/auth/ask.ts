import type { Named } from "../../active-config.ts";
import type { Authenticator } from "../../contract/authenticator.ts";
import { RouterError } from "../../contract/errors.ts";
import type { Principal } from "../../contract/principal.ts";
import { failedPlugin } from "../../plugin-watch/plugin-faults.ts";
import { refused } from "./credential.ts";

type Authenticators = readonly Named<Authenticator>[];

/** Who shows this credential, as the first authenticator says that knows it. Throws, or rejects with, RouterError where none does. */
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
  return thrown instanceof RouterError ? thrown : failedPlugin("authenticator", asked, thrown);
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
