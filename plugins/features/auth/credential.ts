import { RouterError } from "../../../core/contract/errors.ts";
import type { Head } from "../../../core/wire/head.ts";
import { HEADER, startsWithName } from "../../../core/wire/header-names.ts";
import { keysInProtocols } from "../../../core/wire/websocket/protocols.ts";

const HOW = "Send one as Authorization: Bearer KEY, or as X-Api-Key: KEY.";

/** What a client shows of itself. */
export interface Shown {
  readonly credential: string;
  /** Another one in the other header; "" where there is none. */
  readonly other: string;
}

/**
 * What a client shows of itself: the bearer of Authorization, and X-Api-Key, or a subprotocol of a WebSocket in its place. Throws
 * RouterError (401) where there is none, or one of them shows two.
 */
export function shownIn(head: Head): Shown {
  let bearer = "";
  let apiKey = "";
  let isUpgrade = false;
  for (let index = 0; index < head.count; index++) {
    const id = head.id(index);
    if (id === HEADER.authorization) bearer = only(bearerAt(head, index), bearer);
    else if (id === HEADER["x-api-key"]) apiKey = only(head.value(index), apiKey);
    else if (id === HEADER.upgrade) isUpgrade = true;
  }
  if (isUpgrade) for (const key of keysInProtocols(head)) apiKey = only(key, apiKey);
  if (bearer === "" && apiKey === "") throw refused(`This router asks for a key. ${HOW}`);
  return { credential: bearer || apiKey, other: bearer === "" || bearer === apiKey ? "" : apiKey };
}

function only(shown: string, before: string): string {
  if (shown === "") throw refused(EMPTY);
  if (before !== "" && shown !== before) throw twoKeys();
  return shown;
}

export function twoKeys(): RouterError {
  return refused(`The request shows two different keys. ${HOW}`);
}

const EMPTY = `A header for keys holds none that can be read. ${HOW}`;

/** "" for another scheme. */
function bearerAt(head: Head, index: number): string {
  const start = head.valueStart(index);
  return startsWithName(head.text, start, "bearer ") ? head.value(index).slice("bearer ".length).trimStart() : "";
}

export function refused(message: string): RouterError {
  return new RouterError("invalid_api_key", message);
}
