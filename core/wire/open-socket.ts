import { isIP, type Socket, type SocketConstructorOpts } from "node:net";
import { connect as connectTls } from "node:tls";
import type { EndpointUrl } from "../contract/endpoint.ts";
import { READ_BYTES } from "../runtime/accepted-socket.ts";
import { isBun, PlainSocket } from "../runtime/plain-socket.ts";
import { readPastStream } from "../runtime/read-past-stream.ts";
import { readTurns } from "../runtime/read-turns.ts";
import { stopsWhenPaused } from "../runtime/tls-pause.ts";
import type { ReplicaTls } from "../settings.ts";
import { contextFor } from "./replica-tls.ts";

/** One buffer for the reads of all replicas: each read is used up before the next one begins. */
const shared = Buffer.allocUnsafeSlow(READ_BYTES);

export interface SocketOptions {
  /** What the config says of TLS there; read at https:// addresses only. */
  readonly tls?: ReplicaTls | undefined;
  readonly unwritable?: () => void;
}

/**
 * Starts a connection to a replica. `opened` is called when bytes may be written; over TLS, after the handshake. `read` gets the
 * bytes of each read, which are overwritten when it returns. `unwritable` is called when a write fails: the replica gets no more
 * bytes, what it had sent is still read, and then the socket ends. Without `unwritable`, a failed write is an `error` event, after
 * which nothing more is read.
 */
export function openSocket(
  url: EndpointUrl,
  opened: () => void,
  read: (chunk: Buffer) => void,
  { tls, unwritable }: SocketOptions = {},
): Socket {
  const socket = url.isTls ? openTls(url, opened, read, tls) : openPlain(url, opened, read);
  if (unwritable !== undefined) readOnAfterFailedWrite(socket, unwritable);
  return socket;
}

function openPlain({ hostname, port }: EndpointUrl, opened: () => void, read: (chunk: Buffer) => void): Socket {
  // Some options count when a socket is made, others when it connects.
  const options = { host: hostname, port, noDelay: true };
  if (isBun) {
    const socket = new PlainSocket(options as SocketConstructorOpts).connect(options, opened);
    readPastStream(socket, readTurns.pace(socket, read));
    return socket;
  }
  const onread = {
    buffer: shared,
    callback(bytes: number, buffer: Uint8Array) {
      paced((buffer as Buffer).subarray(0, bytes));
      return true;
    },
  };
  const reading = { ...options, onread };
  const socket = new PlainSocket(reading as SocketConstructorOpts);
  const paced = readTurns.pace(socket, read);
  return socket.connect(reading, opened);
}

function openTls(
  { hostname, port }: EndpointUrl,
  opened: () => void,
  read: (chunk: Buffer) => void,
  tls: ReplicaTls | undefined,
): Socket {
  const name = tls?.serverName ?? hostname;
  const options = {
    host: hostname,
    port,
    // An address is not a server name (RFC 6066 3).
    ...(isIP(name) === 0 && { servername: name }),
    ALPNProtocols: ["http/1.1"],
    ...(tls && { secureContext: contextFor(tls), rejectUnauthorized: !tls.isInsecure }),
  };
  const socket = stopsWhenPaused(connectTls(options, opened));
  return socket.on("data", readTurns.pace(socket, read));
}

type Written = (error?: Error | null) => void;
type Parts = Parameters<NonNullable<Socket["_writev"]>>[0];

/**
 * A replica that refuses a long request sends its response and closes at once. The reset then fails the write that is under
 * way before the response has been read, and a socket whose write has failed destroys itself. So its stream is not told:
 * for the stream the write never completes, and it writes nothing more.
 */
function readOnAfterFailedWrite(socket: Socket, unwritable: () => void): void {
  const unlessFailed =
    (written: Written): Written =>
    (error) =>
      error ? unwritable() : written();
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, written) => write(chunk, encoding, unlessFailed(written));
  if (writev !== undefined) socket._writev = (parts: Parts, written) => writev(parts, unlessFailed(written));
}
