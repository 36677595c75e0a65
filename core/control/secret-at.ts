import type { Secret } from "../contract/secret.ts";

/** What a plugin gets that asks for the secret from `from`. Throws an Error if its definition did not name that place. */
export function secretAt(from: string, secrets: ReadonlyMap<string, Secret> | undefined): Secret {
  const secret = secrets?.get(from);
  if (secret === undefined) throw new Error(`The secret ${from} was not read: name it in the definition's secrets`);
  return secret;
}
