import type { Clock } from "../contract/clock.ts";
import type { Log } from "../contract/log.ts";

/** Why a handshake failed. */
type Reason =
  | "not-tls" // the first bytes are no TLS, most often plain HTTP
  | "version" // no version, cipher or protocol that both sides have
  | "client-certificate" // none, or one that is not accepted
  | "left" // the client closed, or took too long
  | "other";

const CODES: Readonly<Record<string, Reason>> = {
  ERR_SSL_HTTP_REQUEST: "not-tls",
  ERR_SSL_WRONG_VERSION_NUMBER: "not-tls",
  ERR_SSL_UNSUPPORTED_PROTOCOL: "version",
  ERR_SSL_NO_SHARED_CIPHER: "version",
  ERR_SSL_NO_APPLICATION_PROTOCOL: "version",
  ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE: "client-certificate",
  ECONNRESET: "left",
  EPIPE: "left",
};

/** Deno has one code for most failures. */
const MESSAGES: readonly (readonly [RegExp, Reason])[] = [
  [/InvalidContentType/, "not-tls"],
  [/peer is incompatible|protocol version/i, "version"],
  [/certificate/i, "client-certificate"],
];

/** What is worth a line: somebody can mend it, and scanners of ports do not cause it all day. */
const WORDS: Partial<Record<Reason, string>> = {
  "not-tls": "A client does not speak TLS: this port takes https:// only",
  "client-certificate": "A client showed no certificate that this port accepts",
};

/** A line for each reason at most this often. */
const QUIET_MS = 60_000;

/** Handshakes that failed, counted by reason. */
export class HandshakeFailures {
  readonly counts: Record<Reason, number> = { "not-tls": 0, version: 0, "client-certificate": 0, left: 0, other: 0 };
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #port: string;
  readonly #toldAtMs = new Map<Reason, number>();

  /** `port`: which one, in log lines. */
  constructor(clock: Clock, log: Log, port: string) {
    this.#clock = clock;
    this.#log = log;
    this.#port = port;
  }

  /** Without an error, the connection just ended. */
  failed(peer: string, error: (Error & { readonly code?: string }) | undefined): void {
    const reason = error === undefined ? "left" : reasonOf(error);
    this.counts[reason] += 1;
    const words = WORDS[reason];
    const nowMs = this.#clock.now();
    if (words === undefined || nowMs - (this.#toldAtMs.get(reason) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
    this.#toldAtMs.set(reason, nowMs);
    this.#log.warn(words, { port: this.#port, client: peer, failures: this.counts[reason] });
  }
}

function reasonOf({ code = "", message }: Error & { readonly code?: string }): Reason {
  return CODES[code] ?? MESSAGES.find(([pattern]) => pattern.test(message))?.[1] ?? "other";
}
