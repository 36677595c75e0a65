import type { EndpointUrl } from "../contract/endpoint.ts";
import { requestText, socketError } from "./http-get.ts";
import { GetError } from "./http-get-result.ts";
import { openSocket } from "./open-socket.ts";
import { ResponseDecoder } from "./response-decoder.ts";

export interface StreamOptions {
  /** The longest time without a byte, also before the first one. */
  readonly silenceMs: number;
  /** Aborting it rejects with a GetError at once. */
  readonly signal: AbortSignal;
  /** Called before any byte of the body. `contentType` is "" if there is none. */
  head(status: number, contentType: string): void;
  /** Called with bytes of the body as they come; they are overwritten when it returns. What it throws ends the exchange. */
  body(bytes: Buffer): void;
}

/** Sends one GET on a connection of its own and hands on its response as it comes. Resolves at its end, rejects with a GetError. */
export function httpStream(url: EndpointUrl, path: string, options: StreamOptions): Promise<void> {
  const { signal, silenceMs } = options;
  return new Promise((resolve, reject) => {
    const request = requestText(url, path, { method: "GET", body: undefined });
    if (signal.aborted) throw stopped();
    const decoder = new ResponseDecoder({
      head: (head) => options.head(head.status, head.get("content-type") ?? ""),
      body(chunk, spans, spanCount) {
        for (let i = 0; i < spanCount; i++) options.body(chunk.subarray(spans[2 * i], spans[2 * i + 1]));
      },
    });
    decoder.begin("GET");
    let isConnected = false;
    const socket = openSocket(
      url,
      () => {
        isConnected = true;
        socket.write(request, "latin1");
      },
      (chunk) => {
        listen();
        try {
          decoder.push(chunk);
        } catch (thrown) {
          return fail(thrown);
        }
        if (decoder.isDone) finish();
      },
    );
    let timer: ReturnType<typeof setTimeout> | undefined;
    const listen = () => {
      clearTimeout(timer);
      timer = setTimeout(() => fail(new GetError("timeout", "Nothing came for too long")), silenceMs);
    };
    const abort = () => fail(stopped());
    const settle = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      socket.destroy();
    };
    const finish = () => {
      settle();
      resolve();
    };
    const fail = (thrown: unknown) => {
      settle();
      reject(thrown instanceof GetError ? thrown : new GetError("invalid", "The response can't be read", thrown));
    };
    listen();
    signal.addEventListener("abort", abort);
    socket.once("end", () => (decoder.isEndedByClose ? finish() : fail(early())));
    socket.on("error", (error) => fail(socketError(error, isConnected)));
    socket.once("close", () => fail(early()));
  });
}

const stopped = () => new GetError("reset", "The exchange was broken off");
const early = () => new GetError("reset", "The connection ended before the response was complete");
