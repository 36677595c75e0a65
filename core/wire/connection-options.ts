import type { Head } from "./head.ts";
import { HEADER } from "./header-names.ts";
import { isToken, listElements } from "./octets.ts";
import { WireError } from "./wire-error.ts";

const NONE: readonly string[] = [];
const CLOSE: readonly string[] = ["close"];
const KEEP_ALIVE: readonly string[] = ["keep-alive"];

/** More than any message needs. A bound, because each header is compared with each option. */
const MAX_OPTIONS = 32;

/** Without these headers a message would mean something else, so a Connection that names one is an attack (RFC 9110 7.6.1). */
const END_TO_END: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "transfer-encoding",
  "content-type",
  "content-encoding",
  "authorization",
  "x-api-key",
  "cache-control",
  "cookie",
  "expect",
]);

/** The options of Connection in lower case (RFC 9110 7.6.1); they may be names of headers that are not passed on. Throws WireError. */
export function connectionOptions(head: Head): readonly string[] {
  let options = NONE;
  for (let i = 0; i < head.count; i++) {
    if (head.id(i) !== HEADER.connection) continue;
    const listed = parse(head.value(i));
    options = options.length === 0 ? listed : [...options, ...listed];
    if (options.length > MAX_OPTIONS) throw new WireError("bad_framing", "Connection lists too many options; send fewer.");
  }
  return options;
}

function parse(value: string): readonly string[] {
  switch (value) {
    case "close":
      return CLOSE;
    case "keep-alive":
    case "Keep-Alive":
      return KEEP_ALIVE;
    default:
      return listElements(value).map(checked);
  }
}

function checked(option: string): string {
  if (!isToken(option)) throw new WireError("bad_framing", "Connection is not a list of tokens; send only close or keep-alive.");
  const name = option.toLowerCase();
  if (END_TO_END.has(name))
    throw new WireError("bad_framing", "Connection names a header that must reach the other end; remove it there.");
  return name;
}
