import { RouterError } from "../../../core/contract/errors.ts";
import type { HeaderView } from "../../../core/contract/request.ts";
import type { CorsSettings } from "../../../core/settings.ts";
import { connectionOptions } from "../../../core/wire/connection-options.ts";
import type { Head } from "../../../core/wire/head.ts";

export const VERSION = "13";
/** Sixteen bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{21}[AQgw]==$/;
/** Headers that say something of a body, which a handshake has not. */
const OF_BODIES = ["content-length", "transfer-encoding", "content-encoding", "expect"] as const;

export function asksForWebSocket(head: HeaderView): boolean {
  return /\bwebsocket\b/i.test(head.get("upgrade") ?? "");
}

/** Throws RouterError for what is no opening handshake (RFC 6455 4.2.1). */
export function checkHandshake(head: Head): void {
  if (head.minor === 0 || !connectionOptions(head).includes("upgrade")) throw broken("it needs HTTP/1.1 and Connection: Upgrade");
  const version = head.get("sec-websocket-version");
  if (version !== VERSION)
    throw new RouterError(
      "upgrade_required",
      `Only version ${VERSION} of WebSocket is spoken here; send Sec-WebSocket-Version: ${VERSION}.`,
    );
  if (!KEY.test(keyOf(head))) throw broken("Sec-WebSocket-Key must be 16 bytes in base64");
  const extra = OF_BODIES.find((name) => (head.get(name) ?? "0") !== "0");
  if (extra !== undefined) throw broken(`it has no body, so leave out ${extra}`);
}

/**
 * Throws RouterError for a page that may not read the router's responses. Browsers ask nobody before they open a WebSocket, so without this
 * every page that somebody looks at could talk to a router on their network.
 */
export function checkOrigin(head: HeaderView, cors: CorsSettings | undefined): void {
  const origin = head.get("origin");
  if (origin === undefined || isOwn(origin, head.get("host"))) return;
  if (cors !== undefined && (cors.origins === undefined || cors.origins.has(origin))) return;
  throw new RouterError(
    "origin_not_allowed",
    "Pages of this origin may not call the router; add it to spec.listen.cors.origins.",
  );
}

/** The page came from the same host, such as a proxy in front of both. */
function isOwn(origin: string, host: string | undefined): boolean {
  return URL.canParse(origin) && host !== undefined && new URL(origin).host === host.toLowerCase();
}

export function keyOf(head: HeaderView): string {
  return head.get("sec-websocket-key") ?? "";
}

const broken = (fault: string) => new RouterError("bad_request", `This is no handshake of a WebSocket: ${fault}.`);
