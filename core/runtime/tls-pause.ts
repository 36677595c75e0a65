import type { TLSSocket } from "node:tls";

/** Undocumented: the TCP connection below TLS. */
interface HandleOwner {
  readonly _handle?: { readonly _parent?: { readStop?(): void; readStart?(): void } } | null;
}

/**
 * Makes a paused TLS connection stop its peer. On Deno 2.9 one that is paused reads on into memory of its own, as much as the peer
 * sends; there the TCP connection below it is stopped too. Elsewhere nothing is to be done.
 */
export function stopsWhenPaused<Connection extends TLSSocket>(socket: Connection): Connection {
  if (process.versions["deno"] === undefined) return socket;
  const tcp = () => (socket as HandleOwner)._handle?._parent;
  const pause = socket.pause.bind(socket);
  const resume = socket.resume.bind(socket);
  let isStopped = false;
  socket.pause = () => {
    isStopped = true;
    tcp()?.readStop?.();
    return pause();
  };
  socket.resume = () => {
    if (isStopped) tcp()?.readStart?.();
    isStopped = false;
    return resume();
  };
  return socket;
}
