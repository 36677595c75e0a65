import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

export type FetchHandler = (request: Request) => Promise<Response> | Response;

export interface NativeServer {
  readonly port: number;
  close(): Promise<void>;
}

interface DenoGlobal {
  serve(options: object, handler: FetchHandler): { readonly addr: { readonly port: number }; shutdown(): Promise<void> };
}

interface BunGlobal {
  serve(options: object): { readonly port: number; stop(isForced: boolean): Promise<void> };
}

/** Serves a handler as this runtime's users do: by Deno.serve, by Bun.serve, on Node by an adapter over node:http. */
export async function serveNatively(handler: FetchHandler): Promise<NativeServer> {
  const { Deno, Bun } = globalThis as { Deno?: DenoGlobal; Bun?: BunGlobal };
  if (Deno !== undefined) {
    const aborting = new AbortController();
    const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {}, signal: aborting.signal }, handler);
    return { port: server.addr.port, close: async () => aborting.abort() };
  }
  if (Bun !== undefined) {
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, idleTimeout: 0, development: false, fetch: handler });
    return { port: server.port, close: () => server.stop(true) };
  }
  return serveOnNode(handler);
}

function serveOnNode(handler: FetchHandler): Promise<NativeServer> {
  const server = createServer((incoming, outgoing) => void answer(handler, incoming, outgoing).catch(() => outgoing.destroy()));
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      const close = async () => {
        server.closeAllConnections();
        await new Promise((closed) => server.close(closed));
      };
      resolve({ port, close });
    });
  });
}

async function answer(handler: FetchHandler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const left = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) left.abort();
  });
  const { method = "GET", url = "/", headers } = incoming;
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  const body = method === "GET" || method === "HEAD" ? null : Readable.toWeb(incoming);
  const init = { method, headers: pairs, body, signal: left.signal, duplex: "half" } as RequestInit;
  const response = await handler(new Request(`http://${headers.host}${url}`, init));
  outgoing.writeHead(response.status, response.statusText, [...response.headers].flat());
  if (response.body === null) outgoing.end();
  else await pipeline(response.body, outgoing);
}
