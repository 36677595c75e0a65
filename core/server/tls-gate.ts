import { constants } from "node:crypto";
import type { Socket } from "node:net";
import { createSecureContext, type SecureContext, TLSSocket, type TLSSocketOptions } from "node:tls";
import { stopsWhenPaused } from "../runtime/tls-pause.ts";
import { areSessionsUnverified } from "../runtime/tls-sessions.ts";
import type { CertificatePair, ServerTls } from "../settings.ts";
import type { HandshakeFailures } from "./handshake-failures.ts";

/** Sessions are resumed only where they began; with client certificates OpenSSL asks for a name of that place. */
const SESSION_PLACE = "signalbox";

/**
 * Puts TLS on accepted connections. A handshake gets the certificates that `use` was given last; connections that are open keep what
 * they have.
 */
export class TlsGate {
  readonly #failures: HandshakeFailures;
  #tls: ServerTls;
  #options: TLSSocketOptions;

  /** Throws where the runtime can't use the certificates. */
  constructor(tls: ServerTls, failures: HandshakeFailures) {
    this.#failures = failures;
    this.#options = optionsOf(tls);
    this.#tls = tls;
  }

  /** Throws, and changes nothing, where the runtime can't use the certificates. */
  use(tls: ServerTls): void {
    this.#options = optionsOf(tls);
    this.#tls = tls;
  }

  /** The connection that requests are read from. It may be read and written at once; bytes pass after the handshake. */
  secure(raw: Socket): Socket {
    const peer = raw.remoteAddress ?? "";
    // The connection above it hears of each error too.
    raw.on("error", () => {});
    const needsCertificate = this.#tls.clientCa !== undefined;
    // Sessions are kept with the certificates: with new ones there is none to resume.
    const options = needsCertificate && areSessionsUnverified ? optionsOf(this.#tls) : this.#options;
    const socket = stopsWhenPaused(new SecureSocket(raw, options));
    let isOpen = false;
    let isCounted = false;
    const failed = (error?: Error) => {
      if (isOpen || isCounted) return;
      isCounted = true;
      this.#failures.failed(peer, error);
    };
    socket.once("secure", () => {
      if (!needsCertificate || isVerified(socket)) isOpen = true;
      else socket.destroy(new Error("The client's certificate is not accepted"));
    });
    socket.on("error", failed);
    socket.once("close", () => failed());
    return socket;
  }
}

/** A TLS connection that ends without its last message is visibly cut, as one over TCP is by a reset. */
class SecureSocket extends TLSSocket {
  override resetAndDestroy(): this {
    return this.destroy();
  }
}

/**
 * Only a server of node:tls looks at the certificate itself; Bun refuses a wrong one in the handshake. What is not known to be right
 * is wrong.
 */
function isVerified(socket: TLSSocket): boolean {
  const { ssl } = socket as unknown as { readonly ssl?: { verifyError?(): unknown } };
  if (areSessionsUnverified && socket.isSessionReused()) return false;
  return ssl?.verifyError !== undefined && !ssl.verifyError();
}

function optionsOf(tls: ServerTls): TLSSocketOptions {
  const { pairs, clientCa } = tls;
  const [first, ...others] = pairs.map((pair) => ({ pair, context: contextOf(pair, tls) }));
  if (first === undefined) throw new Error("TLS needs a certificate");
  const byName = new Map([...others, first].flatMap(({ pair, context }) => pair.names.map((name) => [name, context] as const)));
  return {
    isServer: true,
    secureContext: first.context,
    ALPNProtocols: ["http/1.1"],
    requestCert: clientCa !== undefined,
    rejectUnauthorized: clientCa !== undefined,
    ...(others.length > 0 && {
      SNICallback: (asked, done) => done(null, contextFor(asked.toLowerCase(), byName) ?? first.context),
    }),
  };
}

function contextFor(name: string, byName: ReadonlyMap<string, SecureContext>): SecureContext | undefined {
  return byName.get(name) ?? byName.get(`*${name.slice(Math.max(0, name.indexOf(".")))}`);
}

function contextOf({ cert, key }: CertificatePair, { clientCa, minVersion }: ServerTls): SecureContext {
  return createSecureContext({
    cert,
    key: key.reveal(),
    minVersion,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    sessionIdContext: SESSION_PLACE,
    ...(clientCa && { ca: clientCa.pem }),
  });
}
