import { connect, type OnReadOpts, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

/** The same for all proxies, whichever they would choose. */
const CIPHER = "TLS_AES_128_GCM_SHA256";

/** Where the load goes. */
export interface Target {
  readonly port: number;
  readonly isTls: boolean;
}

/** A connection of the load to a proxy; `onread` spares a buffer for each read. */
export function openClientSocket({ port, isTls }: Target, onread?: OnReadOpts): Socket {
  const options = { port, host: "127.0.0.1", ...(onread && { onread }) };
  if (!isTls) return connect({ ...options, noDelay: true });
  const socket = connectTls({ ...options, rejectUnauthorized: false, minVersion: "TLSv1.3", ciphers: CIPHER });
  return socket.setNoDelay(true);
}
