import { connect, type Socket } from "node:net";

/** A client on a plain socket: sends the bytes it is given and keeps the bytes it gets. */
export interface RawClient {
  readonly socket: Socket;
  /** Everything received so far, as latin1. */
  readonly received: string;
  readonly isClosed: boolean;
  send(bytes: string | Uint8Array): void;
  /** Resolves when `isEnough` holds for what was received, or the connection is closed. */
  until(isEnough: (received: string) => boolean): Promise<string>;
  /** Resolves when the server closed the connection. */
  closed(): Promise<string>;
  destroy(): void;
}

export function openClient(port: number): Promise<RawClient> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const chunks: string[] = [];
    let text = "";
    let isClosed = false;
    const waiters = new Set<() => void>();
    const wake = () => {
      for (const waiter of [...waiters]) waiter();
    };
    const received = () => {
      if (chunks.length > 0) text += chunks.splice(0).join("");
      return text;
    };
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk.toString("latin1"));
      wake();
    });
    socket.on("error", (error) => {
      reject(error);
    });
    socket.on("close", () => {
      isClosed = true;
      wake();
    });
    const until = (isEnough: (received: string) => boolean) =>
      new Promise<string>((done) => {
        const check = () => {
          if (!isClosed && !isEnough(received())) return;
          waiters.delete(check);
          done(received());
        };
        waiters.add(check);
        check();
      });
    socket.on("connect", () =>
      resolve({
        socket,
        get received() {
          return received();
        },
        get isClosed() {
          return isClosed;
        },
        send: (bytes) => void socket.write(bytes as Uint8Array),
        until,
        closed: () => until(() => false),
        destroy: () => socket.destroy(),
      }),
    );
  });
}

/** A complete POST with a JSON body. */
export function postBytes(path: string, body: string, lines = ""): string {
  return `POST ${path} HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n${lines}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** True when `received` holds one whole answer with a Content-Length or a complete chunked body. */
export function isWholeAnswer(received: string): boolean {
  const headEnd = received.indexOf("\r\n\r\n");
  if (headEnd < 0) return false;
  const length = /content-length: (\d+)/i.exec(received.slice(0, headEnd));
  if (length) return received.length >= headEnd + 4 + Number(length[1]);
  return received.endsWith("0\r\n\r\n");
}

/** Sends one request on a connection of its own and returns the whole answer. */
export async function exchange(port: number, bytes: string | Uint8Array): Promise<string> {
  const client = await openClient(port);
  client.send(bytes);
  const answer = await client.until(isWholeAnswer);
  client.destroy();
  return answer;
}

/** Status and parsed JSON body of an answer. */
export function readAnswer(answer: string): { status: number; head: string; json: Record<string, unknown> } {
  const headEnd = answer.indexOf("\r\n\r\n");
  const body = Buffer.from(answer.slice(headEnd + 4), "latin1").toString("utf8");
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0),
    head: answer.slice(0, headEnd),
    json: (body.startsWith("{") ? JSON.parse(body) : {}) as Record<string, unknown>,
  };
}
