import type { Dialect } from "../../../core/contract/errors.ts";

const UTF8 = new TextEncoder();
/** A comment (HTML standard, 9.2.6): every reader of event streams skips it. */
export const COMMENT = UTF8.encode(": keep-alive\n\n");
/** What Anthropic's API itself sends into silent streams. */
const PING = UTF8.encode('event: ping\ndata: {"type":"ping"}\n\n');

/** An event without meaning, which may stand between any two events of an API's streams. */
export const eventOf = (dialect: Dialect) => (dialect === "anthropic" ? PING : COMMENT);
