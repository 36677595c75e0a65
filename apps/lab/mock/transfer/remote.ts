import { type ClientRequest, request } from "node:http";
import type { JsonObject } from "../fields.ts";
import { isObject } from "../fields.ts";

/** A timer of more milliseconds would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A longer response is not read. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;

export interface RemoteAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Something asked of another replica; it rejects when that is gone. */
export interface Asked {
  readonly answer: Promise<RemoteAnswer>;
  cancel(): void;
}

/** Asks other replicas over HTTP. Every question has a connection of its own, so that a replica that dies is noticed at once. */
export class Remote {
  readonly #open = new Set<ClientRequest>();
  #isClosed = false;

  /** Posts a body and reads the response; gives up after `limitMs`. */
  post(to: Address, path: string, body: object, limitMs: number, headers: Readonly<Record<string, string>> = {}): Asked {
    const bytes = Buffer.from(JSON.stringify(body));
    const call = request({
      host: to.host,
      port: to.port,
      path,
      method: "POST",
      agent: false,
      headers: { "content-type": "application/json", ...headers, "content-length": String(bytes.length) },
    });
    this.#open.add(call);
    const answer = new Promise<RemoteAnswer>((resolve, reject) => {
      const timer = setTimeout(
        () => call.destroy(new Error("The other replica does not respond.")),
        Math.min(limitMs, LONGEST_TIMER_MS),
      );
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.#open.delete(call);
        settle();
      };
      call.on("error", (error) => end(() => reject(error)));
      call.on("close", () => end(() => reject(new Error("The other replica has closed the connection."))));
      call.on("response", (response) => {
        const chunks: Buffer[] = [];
        let size = 0;
        response.on("data", (chunk: Buffer) => {
          size += chunk.length;
          if (size > MAX_RESPONSE_BYTES) call.destroy(new Error("The other replica's response is too long."));
          else chunks.push(chunk);
        });
        response.on("error", (error) => end(() => reject(error)));
        response.on("end", () => {
          const contentType = response.headers["content-type"] ?? "application/json";
          const text = Buffer.concat(chunks).toString("utf8");
          if (response.complete) end(() => resolve({ status: response.statusCode ?? 0, contentType, text }));
        });
      });
    });
    if (this.#isClosed) call.destroy();
    else call.end(bytes);
    return { answer, cancel: () => call.destroy() };
  }

  /** Ends what is under way. */
  close(): void {
    this.#isClosed = true;
    for (const call of this.#open) call.destroy();
  }
}

/** The JSON object of an answer; empty for anything else. */
export function objectIn({ text }: RemoteAnswer): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** HOST:PORT, with brackets around an IPv6 address; undefined for anything else. */
export function addressIn(text: string): Address | undefined {
  const [, host, port] = /^\[?([^\]\s/]+?)\]?:(\d{1,5})$/.exec(text.trim()) ?? [];
  const number = Number(port);
  return host === undefined || number < 1 || number > 65_535 ? undefined : { host, port: number };
}
