/**
 * What a request costs where the router is Envoy's endpoint picker, in CPU time of the router and of Envoy beside it:
 *
 *   SIGNALBOX_ENVOY=BINARY node --import tsx tests/bench/epp.ts [node|deno|bun]...
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EnvoyProcess, startEnvoy } from "../support/envoy.ts";
import { ClientConnection } from "./client-connection.ts";
import { cpuMicrosSince, cpuNow, processTree } from "./process-cpu.ts";

const root = join(import.meta.dirname, "..", "..");
const bin = join(root, "node_modules", ".bin");
const PROGRAM = join(root, "apps", "cli", "signalbox.mjs");
const RUNTIMES: Readonly<Record<string, readonly string[]>> = {
  node: ["node", PROGRAM],
  deno: [join(bin, "deno"), "run", "-A", "--no-check", PROGRAM],
  bun: [join(bin, "bun"), PROGRAM],
};
const CONNECTIONS = 16;
const REQUESTS = 3_000;
const STREAMS = 160;
const EVENTS = 100;
const EVENT = `data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}\n\n`;
const ANSWER = JSON.stringify({
  choices: [{ index: 0, message: { role: "assistant", content: "A fair place. ".repeat(40) }, finish_reason: "stop" }],
  usage: { prompt_tokens: 250, completion_tokens: 120, total_tokens: 370 },
});
const MODELS = JSON.stringify({ object: "list", data: [{ id: "m", object: "model", created: 1, owned_by: "vllm" }] });

/** A replica that answers with the same bytes each time, streams an event each millisecond. */
const upstream = createServer((request, response) => {
  let isStream = false;
  request.on("data", (chunk: Buffer) => {
    isStream ||= chunk.includes('"stream":true');
  });
  request.on("end", () => {
    if (!isStream) {
      response.setHeader("content-type", "application/json");
      response.end(request.method === "GET" ? MODELS : ANSWER);
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    let sent = 0;
    const timer = setInterval(() => {
      sent += 1;
      response.write(EVENT);
      if (sent < EVENTS) return;
      clearInterval(timer);
      response.end("data: [DONE]\n\n");
    }, 1);
  });
});
await new Promise<void>((resolve) => upstream.listen(0, "127.0.0.1", resolve));
const folder = mkdtempSync(join(tmpdir(), "signalbox-epp-bench-"));
const config = join(folder, "router.yaml");
const { port } = upstream.address() as AddressInfo;
writeFileSync(
  config,
  `apiVersion: signalbox/v1\nkind: Router\nspec:\n  admin: false\n  pool: { endpoints: [{ url: "http://127.0.0.1:${port}" }] }\n`,
);

const asked = process.argv.slice(2);
for (const runtime of asked.length > 0 ? asked : Object.keys(RUNTIMES)) await measure(runtime);
upstream.close();
upstream.closeAllConnections();
rmSync(folder, { recursive: true, force: true });

async function measure(runtime: string): Promise<void> {
  const [command = "", ...args] = RUNTIMES[runtime] ?? [];
  const pickerPort = 20_000 + Math.floor(Math.random() * 10_000);
  const router = spawn(command, [...args, "epp", "-f", config, "--grpc-port", String(pickerPort)], {
    cwd: root,
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise<void>((resolve) => router.stderr.on("data", (chunk: Buffer) => chunk.includes("listening") && resolve()));
  const envoy = await startEnvoy({ pickerPort });
  try {
    await load(envoy, false, 1_000);
    const unary = await cpuOf(router.pid!, envoy, () => load(envoy, false, REQUESTS));
    await load(envoy, true, CONNECTIONS);
    const streams = await cpuOf(router.pid!, envoy, () => load(envoy, true, STREAMS));
    const [routerEvent, envoyEvent] = [streams.router / (STREAMS * EVENTS), streams.envoy / (STREAMS * EVENTS)];
    console.log(
      `${runtime}: a request ${(unary.router / REQUESTS).toFixed(0)} µs (Envoy ${(unary.envoy / REQUESTS).toFixed(0)}); ` +
        `an event of a stream ${routerEvent.toFixed(1)} µs (Envoy ${envoyEvent.toFixed(1)})`,
    );
  } finally {
    await envoy.stop();
    router.kill("SIGKILL");
  }
}

async function cpuOf(pid: number, envoy: EnvoyProcess, run: () => Promise<void>) {
  const [router, proxy] = [cpuNow(processTree(pid)), cpuNow(processTree(envoy.pid))];
  await run();
  return { router: cpuMicrosSince(router), envoy: cpuMicrosSince(proxy) };
}

/** So many requests, one after the other on each connection. Throws if one fails. */
async function load(envoy: EnvoyProcess, isStream: boolean, requests: number): Promise<void> {
  let begun = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, index) => {
      const connection = new ClientConnection({ port: envoy.port, isTls: false });
      while (begun < requests) {
        begun += 1;
        const status = await new Promise<number>((resolve) => connection.send(message(index, isStream), resolve));
        if (status !== 200) throw new Error(`A request got status ${status}`);
      }
      connection.close();
    }),
  );
}

function message(conversation: number, isStream: boolean): Buffer {
  const content = `Conversation ${conversation}. ${"Was the soup any good? ".repeat(40)}`;
  const body = JSON.stringify({ model: "m", stream: isStream, messages: [{ role: "user", content }] });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.from(head + body);
}
