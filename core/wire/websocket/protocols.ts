import type { HeaderView } from "../../contract/request.ts";

/** Pages can't send headers, so packages for browsers put a key behind this, among the subprotocols that they offer. */
const KEY_BEFORE = "openai-insecure-api-key.";

/** The subprotocols that a client offers, but those that are keys: nobody is to agree to one, or to get it. */
export function offeredProtocols(head: HeaderView): readonly string[] {
  return namesIn(head).filter((name) => !isKey(name));
}

/** The keys among them. */
export function keysInProtocols(head: HeaderView): readonly string[] {
  return namesIn(head).flatMap((name) => (isKey(name) ? [name.slice(KEY_BEFORE.length)] : []));
}

function namesIn(head: HeaderView): readonly string[] {
  const offered = head.get("sec-websocket-protocol");
  if (offered === undefined) return [];
  return offered
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

export function isKey(protocol: string): boolean {
  return protocol.slice(0, KEY_BEFORE.length).toLowerCase() === KEY_BEFORE;
}
