import type { Head } from "../../../core/wire/head.ts";
import { HeadParser } from "../../../core/wire/head-parser.ts";
import { splitTarget } from "../../../core/wire/request-target.ts";

/** The handshake's own bounds have held already. */
const LIMITS = { headBytes: Number.MAX_SAFE_INTEGER, headerCount: Number.MAX_SAFE_INTEGER };
/** Each message has an id of its own, and its body is what its text is. */
const DROPPED = /^(?:content-type|content-length|x-request-id):.*\r\n/gim;

/** The head that a message has as a request: the handshake's, so that who asks is who opened the WebSocket. */
export function messageHead(handshake: Head): Head {
  const { path, query } = splitTarget(handshake.target);
  const rest = query.split("&").filter((pair) => !namesModel(pair));
  const target = rest.join("") === "" ? path : `${path}?${rest.join("&")}`;
  const lines = handshake.text.slice(handshake.text.indexOf("\r\n") + 2, -2).replace(DROPPED, "");
  const parser = new HeadParser("request", LIMITS);
  parser.push(Buffer.from(`POST ${target} HTTP/1.1\r\n${lines}Content-Type: application/json\r\n\r\n`, "latin1"), 0);
  return parser.head;
}

/** A message names its model itself, and a replica must not read another one. */
function namesModel(pair: string): boolean {
  try {
    return decodeURIComponent(pair.split("=", 1)[0]!) === "model";
  } catch {
    return false;
  }
}
