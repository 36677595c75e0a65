import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";

/** A TLS client: sends bytes, keeps what comes. */
export interface TlsClient {
  readonly socket: TLSSocket;
  readonly received: string;
  send(bytes: string): void;
  /** Resolves when `isEnough` holds for what was received. Rejects with what broke the connection, or an Error when it ends before. */
  until(isEnough: (received: string) => boolean): Promise<string>;
  close(): void;
}

/** Rejects when the handshake fails. Certificates of addresses are not checked unless `options` say so. */
export async function openTls(port: number, options: ConnectionOptions = {}): Promise<TlsClient> {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options });
  let received = "";
  let ended: Error | undefined;
  const waiters = new Set<() => void>();
  const wake = () => {
    for (const waiter of [...waiters]) waiter();
  };
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("latin1");
    wake();
  });
  socket.on("error", (error) => {
    ended ??= error;
    wake();
  });
  socket.on("close", () => {
    ended ??= new Error("The connection was closed");
    wake();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("secureConnect", resolve);
    waiters.add(() => ended && reject(ended));
  });
  waiters.clear();
  return {
    socket,
    get received() {
      return received;
    },
    send: (bytes) => void socket.write(bytes, "latin1"),
    until: (isEnough) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (isEnough(received)) resolve(received);
          else if (ended === undefined) return;
          else reject(ended);
          waiters.delete(check);
        };
        waiters.add(check);
        check();
      }),
    close: () => socket.destroy(),
  };
}

/** One request on a connection of its own; resolves to the response's status line. Rejects when none comes. */
export async function askOverTls(port: number, request: string, options: ConnectionOptions = {}): Promise<string> {
  const client = await openTls(port, options);
  try {
    client.send(request);
    return (await client.until((received) => received.includes("\r\n\r\n"))).split("\r\n", 1)[0] ?? "";
  } finally {
    client.close();
  }
}
