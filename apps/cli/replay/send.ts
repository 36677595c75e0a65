import { type Agent, type IncomingMessage, request } from "node:http";
import { request as requestTls } from "node:https";
import type { EndpointUrl } from "../../../core/contract/endpoint.ts";

export interface Sent {
  readonly url: EndpointUrl;
  readonly path: string;
  readonly agent: Agent;
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** After so long without a byte the request is given up; never without it. */
  readonly silenceMs?: number;
  readonly signal: AbortSignal;
}

/** How a request ended. */
export interface Ended {
  /** Undefined where no response came. */
  readonly status: number | undefined;
  /** Why the response is not complete, or "". */
  readonly failure: string;
  /** That the response names, or "". */
  readonly endpoint: string;
}

/** Sends one request and reads its response to the end; `firstByte` is called at the first byte of a body of status 200. Never rejects. */
export function send({ url, path, agent, body, headers, silenceMs, signal }: Sent, firstByte: () => void): Promise<Ended> {
  return new Promise((resolve) => {
    let status: number | undefined;
    let endpoint = "";
    const end = (failure: string) => resolve({ status, failure, endpoint });
    const failed = (error: NodeJS.ErrnoException) => end(error.code ?? error.name);
    const { hostname: host, port, basePath } = url;
    const all = { ...headers, "content-type": "application/json", "content-length": body.length };
    const options = { host, port, method: "POST", path: basePath + path, agent, headers: all, signal };
    const sent = (url.isTls ? requestTls : request)(options);
    sent.on("error", failed);
    if (silenceMs !== undefined)
      sent.setTimeout(silenceMs, () => {
        end("silent");
        sent.destroy();
      });
    sent.on("response", (response: IncomingMessage) => {
      status = response.statusCode ?? 0;
      endpoint = String(response.headers["x-signalbox-endpoint"] ?? "");
      response.once("data", () => status === 200 && firstByte());
      response.resume();
      response.on("error", failed);
      response.on("close", () => end(response.complete ? "" : "broken off"));
    });
    sent.end(body);
  });
}
