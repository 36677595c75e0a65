import type { LoadedConfig } from "../config/load.ts";
import type { PluginWorld } from "./control/program.ts";
import { systemClock } from "./clock.ts";
import { silentLog } from "./log.ts";
import { FetchReply } from "./fetch-reply.ts";
import type { RequestReceiver } from "./reply.ts";
import { runRouter } from "./router.ts";
import { HeadParser } from "./wire/head.ts";

/** The router as a Web-standard handler, for Hono, Deno.serve, Bun.serve and their like. */
export interface FetchRouter {
  /** Routes one request. Never rejects: what goes wrong is an error answer in the called API's own shape. */
  fetch(request: Request): Promise<Response>;
  /** Resolves true once an endpoint is ready, false when none is after `timeoutMs`. */
  whenReady(timeoutMs: number): Promise<boolean>;
  /** Ends probes and the connections to the replicas. */
  close(): void;
}

/** Starts the same router that the standalone proxy runs, without a listener of its own. */
export function createRouter(loaded: LoadedConfig, world: Partial<PluginWorld> = {}): FetchRouter {
  const router = runRouter(loaded, {
    clock: systemClock,
    random: Math.random,
    log: silentLog,
    print: () => {},
    isTerminal: false,
    ...world,
  });
  return {
    fetch: (request) => answer(request, router.start),
    whenReady: router.whenReady,
    close: router.close,
  };
}

/** Host names and headers were checked by the host already: the head only has to be taken apart once more. */
const HEAD_LIMITS = { headBytes: 256 * 1024, headerCount: 1024 };

function answer(request: Request, start: ReturnType<typeof runRouter>["start"]): Promise<Response> {
  return new Promise((resolve) => {
    const reply = new FetchReply(request.method, resolve);
    const parser = new HeadParser("request", HEAD_LIMITS);
    const bytes = Buffer.from(headText(request), "latin1");
    try {
      parser.push(bytes, 0);
    } catch {
      resolve(new Response("Bad request", { status: 400 }));
      return;
    }
    const length = request.headers.get("content-length");
    const bodyLength = request.body === null ? 0 : length !== null && /^\d+$/.test(length) ? Number(length) : -1;
    const receiver = start(parser.head, bodyLength, reply, "");
    reply.receiver = receiver;
    request.signal.addEventListener("abort", () => receiver.clientGone(), { once: true });
    void takeBody(request, receiver, reply);
  });
}

function headText(request: Request): string {
  const { host, pathname, search } = new URL(request.url);
  let text = `${request.method} ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n`;
  for (const [name, value] of request.headers) if (name !== "host") text += `${name}: ${value}\r\n`;
  return `${text}\r\n`;
}

async function takeBody(request: Request, receiver: RequestReceiver, reply: FetchReply): Promise<void> {
  try {
    const reader = request.body?.getReader();
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      if (done) break;
      receiver.body(value, 0, value.length);
      if (reply.hasStarted) {
        await reader.cancel();
        return;
      }
    }
    if (!reply.hasStarted) receiver.bodyEnd();
  } catch {
    receiver.clientGone();
  }
}
