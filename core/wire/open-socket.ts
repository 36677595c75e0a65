import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { EndpointUrl } from "../endpoint.ts";

/** Starts a connection to a replica; `opened` is called once bytes may be written, TLS included. */
export function openSocket({ hostname, port, isTls }: EndpointUrl, opened: () => void): Socket {
  if (!isTls) return connectTcp({ host: hostname, port, noDelay: true }, opened);
  // An address is not a server name (RFC 6066 3).
  const name = isIP(hostname) === 0 ? { servername: hostname } : {};
  return connectTls({ host: hostname, port, ...name, ALPNProtocols: ["http/1.1"] }, opened);
}
