import type { EndpointUrl } from "../contract/endpoint.ts";
import { exchange } from "./http-get.ts";
import type { ExchangeOptions } from "./http-get-result.ts";

export interface StreamOptions extends ExchangeOptions {
  /** The longest time without a byte, also before the first one. */
  readonly silenceMs: number;
  readonly signal: AbortSignal;
  /** Called before any byte of the body. `contentType` is "" if there is none. */
  head(status: number, contentType: string): void;
  /** Called with bytes of the body as they come; they are overwritten when it returns. What it throws ends the exchange. */
  body(bytes: Buffer): void;
}

/** Sends one GET on a connection of its own and hands on its response as it comes. Resolves at its end, rejects with a GetError. */
export function httpStream(url: EndpointUrl, path: string, options: StreamOptions): Promise<void> {
  return exchange(
    url,
    path,
    { ...options, method: "GET", body: undefined, limitMs: options.silenceMs, isStream: true },
    {
      head: (head) => options.head(head.status, head.get("content-type") ?? ""),
      body(chunk, spans, spanCount) {
        for (let i = 0; i < spanCount; i++) options.body(chunk.subarray(spans[2 * i], spans[2 * i + 1]));
      },
    },
  );
}
