import { createServer, type Server, type Socket } from "node:net";

/** One request as the replica received it, byte for byte. */
interface ReceivedRequest {
  readonly startLine: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly head: string;
  readonly body: Buffer;
  /** How many requests came before it on the same connection. */
  readonly indexOnConnection: number;
  /** How many requests (probes not counted) the replica got before it. */
  readonly index: number;
}

/** Answers one request by writing bytes; probes are answered without it. */
export type Script = (request: ReceivedRequest, socket: Socket) => void;

export interface ScriptedReplica {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  /** Bytes after the last whole request, on all connections together. */
  readonly unreadBytes: number;
  /** Connections open now, probes included. */
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
  /** Stops listening, keeps what is open. */
  refuse(): Promise<void>;
  /** Listens on the same port again. */
  listenAgain(): Promise<void>;
  /** True: probes get 503 from now on. A probe that hangs would take real time, whatever clock the router has. */
  failsProbes: boolean;
}

const PROBE = /^GET \S*\/(v1\/models|health|metrics) /;

/** A replica that does what a script says, on plain sockets: it shares no code with the router. */
export async function startScriptedReplica(
  script: Script,
  models: readonly (string | { readonly id: unknown })[] = ["m"],
): Promise<ScriptedReplica> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let unreadBytes = 0;
  const modelList = JSON.stringify({
    object: "list",
    data: models.map((model) => ({
      ...(typeof model === "string" ? { id: model } : model),
      object: "model",
      created: 1,
      owned_by: "test",
    })),
  });
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    let held: Buffer = Buffer.alloc(0);
    let indexOnConnection = 0;
    socket.on("data", (chunk: Buffer) => {
      unreadBytes -= held.length;
      held = Buffer.concat([held, chunk]);
      for (let taken = takeRequest(held); taken !== undefined; taken = takeRequest(held)) {
        held = taken.rest;
        if (PROBE.test(taken.startLine)) {
          const body = taken.startLine.includes("/v1/models") ? modelList : "{}";
          socket.write(replica.failsProbes ? jsonAnswer("{}", "503 Service Unavailable") : jsonAnswer(body));
          continue;
        }
        const request = { ...taken, indexOnConnection, index: requests.length };
        indexOnConnection += 1;
        requests.push(request);
        script(request, socket);
      }
      unreadBytes += held.length;
    });
  });
  const port = await listen(server, 0);
  const replica: ScriptedReplica = {
    url: `http://127.0.0.1:${port}`,
    port,
    failsProbes: false,
    requests,
    get unreadBytes() {
      return unreadBytes;
    },
    sockets,
    refuse: () => new Promise((resolve) => server.close(() => resolve()).unref() && queueMicrotask(resolve)),
    listenAgain: async () => void (await listen(server, port)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
        if (!server.listening) resolve();
      }),
  };
  return replica;
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}

function takeRequest(held: Buffer) {
  const headEnd = held.indexOf("\r\n\r\n");
  if (headEnd < 0) return undefined;
  const head = held.toString("latin1", 0, headEnd + 4);
  const [startLine = "", ...lines] = head.trimEnd().split("\r\n");
  const headers = new Map(
    lines.map(
      (line) =>
        [
          line.slice(0, line.indexOf(":")).toLowerCase(),
          line.slice(line.indexOf(":") + 1).replace(/^[ \t]+|[ \t]+$/g, ""),
        ] as const,
    ),
  );
  const bodyEnd = headEnd + 4 + Number(headers.get("content-length") ?? 0);
  if (held.length < bodyEnd) return undefined;
  return { startLine, headers, head, body: held.subarray(headEnd + 4, bodyEnd), rest: held.subarray(bodyEnd) };
}

/** A complete JSON answer with a length. */
export function jsonAnswer(body: string, status = "200 OK", lines = ""): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\n${lines}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** The head of a chunked event stream. */
export const STREAM_HEAD =
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";

/** One chunk of a chunked body. */
export function chunkOf(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

export const LAST_CHUNK = "0\r\n\r\n";
