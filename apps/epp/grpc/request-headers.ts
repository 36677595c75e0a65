import { blanksEnd, CR, isToken, LF } from "../../../core/wire/octets.ts";
import type { Field } from "./header-table.ts";

/** What a stream needs of its headers. */
export interface RequestHead {
  readonly path: string;
  /** How many bytes of data the peer says that it will send; -1 if it does not say. */
  readonly contentLength: number;
}

/** Pseudo-headers of a request (RFC 9113, 8.3.1). */
const PSEUDO: ReadonlySet<string> = new Set([":method", ":scheme", ":path", ":authority"]);
const NEEDED: readonly string[] = [":method", ":scheme", ":path"];
/** What belongs to a connection of HTTP/1.1 (RFC 9113, 8.2.2). */
const OF_CONNECTIONS: ReadonlySet<string> = new Set([
  ...["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"],
]);
const LENGTH = /^\d{1,15}$/;

/** Undefined for headers that no request may have (RFC 9113, 8.2 and 8.3). */
export function requestHead(fields: readonly Field[]): RequestHead | undefined {
  const pseudo = new Map<string, string>();
  let isPseudoOver = false;
  let contentLength = -1;
  for (const field of fields) {
    const [name, value] = field;
    if (name.startsWith(":")) {
      if (isPseudoOver || !PSEUDO.has(name) || pseudo.has(name) || !isValue(value)) return undefined;
      pseudo.set(name, value);
      continue;
    }
    isPseudoOver = true;
    if (!isRegular(field)) return undefined;
    if (name !== "content-length") continue;
    const length = LENGTH.test(value) ? Number(value) : -1;
    if (length === -1 || (contentLength !== -1 && contentLength !== length)) return undefined;
    contentLength = length;
  }
  const path = pseudo.get(":path") ?? "";
  return NEEDED.every((name) => pseudo.get(name)) ? { path, contentLength } : undefined;
}

/** Whether these may follow the data of a request. */
export function areTrailers(fields: readonly Field[]): boolean {
  return fields.every(isRegular);
}

/** Not a pseudo-header, since a colon is in no token. */
function isRegular([name, value]: Field): boolean {
  if (!isToken(name) || name !== name.toLowerCase() || OF_CONNECTIONS.has(name)) return false;
  return isValue(value) && (name !== "te" || value.toLowerCase() === "trailers");
}

/** RFC 9113, 8.2.1. */
function isValue(value: string): boolean {
  for (let at = 0; at < value.length; at++) {
    const octet = value.charCodeAt(at);
    if (octet === 0 || octet === LF || octet === CR) return false;
  }
  return blanksEnd(value, 0, Math.min(1, value.length)) === 0 && !/[ \t]$/.test(value);
}
