import { sha1 } from "../../runtime/sha1.ts";

/** What a server puts behind a client's key (RFC 6455 1.3). */
const BEHIND = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** What Sec-WebSocket-Accept must be, so that the answer is one to this key. */
export function acceptFor(key: string): string {
  return sha1(key + BEHIND);
}
