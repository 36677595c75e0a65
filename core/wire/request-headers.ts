import { HEADER, startsWithName } from "./header-names.ts";

/** The bits of a letter's code that are the same in both cases. */
const LETTER = 0x1f;
const LETTERS = LETTER + 1;

/** What happens to headers of requests, and why. Those that are not here go on to the replica as they came. */
interface Rule {
  /** "own": the replica gets the router's value, if any. "dropped": it gets none. */
  readonly fate: "own" | "dropped";
  readonly why: string;
  /** In lower case; a "*" at the end stands for any rest. */
  readonly names: readonly string[];
}

/** RFC 9110 7.6.1, and the older ones that were never registered but are still sent. */
export const HOP_BY_HOP: readonly (keyof typeof HEADER)[] = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

// Servers behind the router, and what stands beside them, believe these headers because a proxy is supposed to have set them.
export const REQUEST_RULES: readonly Rule[] = [
  { fate: "dropped", why: "they end at each hop", names: [...HOP_BY_HOP, "sec-websocket-*"] },
  { fate: "dropped", why: "the router has responded to it", names: ["expect"] },
  {
    fate: "own",
    why: "they are the router's to say",
    names: ["host", "content-length", "accept-encoding", "x-request-id", "x-forwarded-for"],
  },
  {
    fate: "dropped",
    why: "a client could pose as another address, or as a proxy",
    names: [
      ...["forwarded", "x-forwarded*", "x-original-*", "x-real-ip", "x-client-ip", "x-cluster-client-ip", "client-ip"],
      ...["x-originating-ip", "x-remote-ip", "x-remote-addr", "x-proxyuser-ip"],
      ...["true-client-ip", "cf-connecting-ip*", "cf-pseudo-ipv4", "fastly-client-ip", "fly-client-ip", "x-azure-clientip"],
      ...["x-azure-socketip", "x-appengine-user-ip", "x-appengine-remote-addr", "x-vercel-forwarded-for", "x-vercel-proxied-for"],
      ...["wl-proxy-client-ip", "x-nf-client-connection-ip", "x-sucuri-clientip"],
    ],
  },
  {
    fate: "dropped",
    why: "a client could show a certificate that nobody has checked",
    names: ["x-client-cert*", "x-ssl-*", "ssl-client-*", "x-arr-clientcert"],
  },
  {
    fate: "dropped",
    why: "some servers take another path, host or method from them than the request's own",
    names: [
      ...["x-rewrite-url", "x-override-url", "x-request-uri", "x-http-method*", "x-method-override", "x-host"],
      ...["x-http-host-override", "x-http-path-override", "x-http-destinationurl"],
    ],
  },
  {
    fate: "dropped",
    why: "they steer the proxies of a cluster, or the engine itself",
    names: [
      ...["x-envoy-*", "x-gateway-*", "x-llm-d-*", "x-prefiller-*", "x-encoder-hosts-ports*", "x-data-parallel-*"],
      ...["x-vllm-priority*", "x-signalbox-*"],
    ],
  },
];

/** Headers with a client's own key. They go on, unless the router has a key for the replica or the config says that none do. */
export const CREDENTIALS: readonly (keyof typeof HEADER)[] = ["authorization", "x-api-key", "api-key", "cookie"];

/** A name that is not in HEADER, or the beginning of such names. */
interface Entry {
  readonly text: string;
  readonly isBeginning: boolean;
}

const NAMES: readonly string[] = REQUEST_RULES.flatMap(({ names }) => names);

/** Those of the names that have a number in HEADER, a bit for each. */
export const NUMBERED_MASK = NAMES.reduce((mask, name) => mask | (1 << (HEADER[name as keyof typeof HEADER] ?? 0)), 0) & ~1;

/** The other headers, by their first letter, or by the letter after "x-": few names share one. */
const UNNUMBERED = NAMES.filter((name) => !(name in HEADER));
const PLAIN = byLetter(UNNUMBERED.filter((name) => !name.startsWith("x-")));
const EXTENSIONS = byLetter(UNNUMBERED.filter((name) => name.startsWith("x-")).map((name) => name.slice(2)));

function byLetter(names: readonly string[]): readonly (readonly Entry[])[] {
  const entries = names.map((name) => ({ text: name.replace("*", ""), isBeginning: name.endsWith("*") }));
  return Array.from({ length: LETTERS }, (_, letter) => entries.filter(({ text }) => (text.charCodeAt(0) & LETTER) === letter));
}

/** Whether the name that is text[start, end), which has no number in HEADER, is not to reach a replica. */
export function isDroppedName(text: string, start: number, end: number): boolean {
  const isExtension = (text.charCodeAt(start) | 0x20) === 0x78 && text.charCodeAt(start + 1) === 0x2d;
  const from = isExtension ? start + 2 : start;
  const entries = (isExtension ? EXTENSIONS : PLAIN)[text.charCodeAt(from) & LETTER]!;
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i]!;
    const { length } = entry.text;
    if ((entry.isBeginning ? length <= end - from : length === end - from) && startsWithName(text, from, entry.text)) return true;
  }
  return false;
}
