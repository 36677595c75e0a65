import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after } from "node:test";

/** A replica whose probes always succeed, with these metrics of vLLM beside those that count requests; null: it can't tell them. */
export async function startMetricsReplica(metricsOf: () => string | null) {
  const counted = { requests: 0 };
  const server = createServer((request, response) => {
    if (request.url === "/metrics") {
      const metrics = metricsOf();
      const counts = 'vllm:num_requests_running{engine="0"} 0\nvllm:num_requests_waiting{engine="0"} 0\n';
      return metrics === null ? response.writeHead(500).end() : response.end(counts + metrics);
    }
    if (request.url === "/health") return response.end();
    if (request.method === "GET") return response.end('{"data":[{"id":"m"}]}');
    counted.requests += 1;
    const body = '{"choices":[{"index":0,"text":"x","finish_reason":"stop"}]}';
    return request.resume().on("end", () => response.setHeader("content-type", "application/json").end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { counted, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}
