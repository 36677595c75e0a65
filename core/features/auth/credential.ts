import { RouterError } from "../../contract/errors.ts";
import type { Head } from "../../wire/head.ts";
import { HEADER, startsWithName } from "../../wire/header-names.ts";

const HOW = "Send one as Authorization: Bearer KEY, or as X-Api-Key: KEY.";

/**
 * What a client shows of itself: the bearer of Authorization, or X-Api-Key, the one or the other, or both alike. Throws RouterError (401)
 * where there is none, or it is not clear which one is meant.
 */
export function credentialIn(head: Head): string {
  let found = "";
  for (let index = 0; index < head.count; index++) {
    const id = head.id(index);
    const isBearer = id === HEADER.authorization;
    if (!isBearer && id !== HEADER["x-api-key"]) continue;
    const shown = isBearer ? bearerAt(head, index) : head.value(index);
    if (shown === "" || (found !== "" && shown !== found)) throw refused(shown === "" ? EMPTY : TWO);
    found = shown;
  }
  if (found === "") throw refused(`This router asks for a key. ${HOW}`);
  return found;
}

const EMPTY = `A header for keys holds none that can be read. ${HOW}`;
const TWO = `The request shows two different keys. ${HOW}`;

/** "" for another scheme. */
function bearerAt(head: Head, index: number): string {
  const start = head.valueStart(index);
  return startsWithName(head.text, start, "bearer ") ? head.value(index).slice("bearer ".length).trimStart() : "";
}

export function refused(message: string): RouterError {
  return new RouterError("invalid_api_key", message);
}
