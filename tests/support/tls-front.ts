import { connect, type Socket } from "node:net";
import { createServer, type SecureContextOptions } from "node:tls";

/** TLS in front of a plain server on this machine. */
export interface TlsFront {
  readonly url: string;
  /** TLS connections that were opened so far. */
  readonly opened: number;
  /** Shows another certificate to connections that begin later, and ends those that are open. */
  use(options: SecureContextOptions): void;
  close(): Promise<void>;
}

/** With `ca`, clients must show a certificate of that authority. */
export async function startTlsFront(plainUrl: string, options: SecureContextOptions): Promise<TlsFront> {
  const open = new Set<Socket>();
  let opened = 0;
  const isAsked = options.ca !== undefined;
  const server = createServer({ ...options, requestCert: isAsked, rejectUnauthorized: isAsked }, (socket) => {
    opened += 1;
    const plain = connect(Number(new URL(plainUrl).port), "127.0.0.1");
    socket.pipe(plain).pipe(socket);
    open.add(socket);
    socket
      .on("error", () => {})
      .on("close", () => {
        open.delete(socket);
        plain.destroy();
      });
    plain.on("error", () => socket.destroy()).on("close", () => socket.destroySoon());
  });
  server.on("tlsClientError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const cut = () => {
    for (const socket of [...open]) socket.destroy();
  };
  return {
    url: `https://127.0.0.1:${typeof address === "object" ? address?.port : 0}`,
    get opened() {
      return opened;
    },
    use(next) {
      server.setSecureContext(next);
      cut();
    },
    close() {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
