import { isIP, type Socket, type SocketConstructorOpts } from "node:net";
import { connect as connectTls } from "node:tls";
import type { EndpointUrl } from "../contract/endpoint.ts";
import { PlainSocket } from "../runtime/plain-socket.ts";

/** The most that one read brings. */
export const READ_BYTES = 64 * 1024;

/** One buffer for the reads of all replicas: each read is used up before the next one begins. */
const shared = Buffer.allocUnsafeSlow(READ_BYTES);

/**
 * Starts a connection to a replica. `opened` is called once bytes may be written, TLS included; `read` gets each read's bytes,
 * which are overwritten once it returns.
 */
export function openSocket({ hostname, port, isTls }: EndpointUrl, opened: () => void, read: (chunk: Buffer) => void): Socket {
  if (isTls) return openTls(hostname, port, opened).on("data", read);
  const onread = {
    buffer: shared,
    callback(bytes: number, buffer: Uint8Array) {
      read((buffer as Buffer).subarray(0, bytes));
      return true;
    },
  };
  const options = { host: hostname, port, noDelay: true, onread };
  return new PlainSocket(options as SocketConstructorOpts).connect(options, opened);
}

function openTls(hostname: string, port: number, opened: () => void): Socket {
  // An address is not a server name (RFC 6066 3).
  const name = isIP(hostname) === 0 ? { servername: hostname } : {};
  return connectTls({ host: hostname, port, ...name, ALPNProtocols: ["http/1.1"] }, opened);
}
