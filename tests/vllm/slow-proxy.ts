import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface SlowProxy {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * A server that computes prompts `factor` times as slowly as the one at `targetUrl`: it passes everything on and holds each
 * response's body back until the time that the prompt really took has passed `factor` times, one prompt after the other.
 */
export async function startSlowProxy(targetUrl: string, factor: number): Promise<SlowProxy> {
  /** When the target's last prompt was done, and when it is done here. */
  let targetDoneMs = 0;
  let doneMs = 0;

  function handle(incoming: IncomingMessage, response: ServerResponse): void {
    const arrivedMs = performance.now();
    const { method, headers } = incoming;
    const outgoing = request(`${targetUrl}${incoming.url}`, { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      if (method !== "POST") return answer.pipe(response);
      answer.once("readable", () => {
        const nowMs = performance.now();
        const tookMs = nowMs - Math.max(arrivedMs, targetDoneMs);
        targetDoneMs = nowMs;
        doneMs = Math.max(arrivedMs, doneMs) + factor * tookMs;
        setTimeout(() => answer.pipe(response), doneMs - nowMs);
      });
      return answer;
    });
    outgoing.on("error", () => response.destroy());
    incoming.pipe(outgoing);
  }

  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
