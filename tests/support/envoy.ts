import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A real Envoy, where SIGNALBOX_ENVOY names its binary. */
const ENVOY = process.env["SIGNALBOX_ENVOY"] ?? "";
export const HAS_ENVOY = ENVOY !== "" && existsSync(ENVOY);
if (!HAS_ENVOY) console.error("SKIPPED: SIGNALBOX_ENVOY names no Envoy: the endpoint picker was NOT tested with a real one");

/** The shipped config, as text. */
export const ENVOY_EXAMPLE = readFileSync(
  join(import.meta.dirname ?? ".", "..", "..", "examples", "gateway", "envoy.yaml"),
  "utf8",
);
/** It ends itself after this, whatever became of the test. */
const LIFE_S = 170;

export interface EnvoyProcess {
  readonly url: string;
  readonly port: number;
  /** Of the process that started it. */
  readonly pid: number;
  /** At once, without any good-bye. */
  kill(): void;
  stop(): Promise<void>;
}

export interface EnvoyOptions {
  /** Of the endpoint picker. */
  readonly pickerPort: number;
  /** Of a second one; with it the example's cluster of two pickers is asked. */
  readonly secondPort?: number;
  /** Fail-open: requests go on where the picker does not answer. */
  readonly isOpen?: boolean;
  /** The example's cluster that requests go to; default the one that its route names. */
  readonly cluster?: string;
  /** Ports of the replicas that Envoy knows. */
  readonly listed?: readonly [number, number];
  /** Other body modes than those of the example: of requests, and of responses. */
  readonly modes?: readonly [request: string, response: string];
}

/** Starts the Envoy of examples/gateway on free ports. */
export async function startEnvoy({
  pickerPort,
  secondPort,
  isOpen,
  cluster,
  listed,
  modes,
}: EnvoyOptions): Promise<EnvoyProcess> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-envoy-"));
  const port = await freePort();
  let text = ENVOY_EXAMPLE.replace("port_value: 8080", `port_value: ${port}`)
    .replaceAll("port_value: 9002", `port_value: ${pickerPort}`)
    .replaceAll("port_value: 9003", `port_value: ${secondPort ?? pickerPort}`)
    // Everything shares one machine with the suite here: what is slow is not dead.
    .replaceAll("connect_timeout: 1s", "connect_timeout: 30s");
  if (secondPort !== undefined) text = text.replace("cluster_name: signalbox }", "cluster_name: signalbox-pair }");
  if (isOpen === true) text = text.replace("failure_mode_allow: false", "failure_mode_allow: true");
  if (cluster !== undefined) text = text.replace("cluster: replicas\n", `cluster: ${cluster}\n`);
  if (listed !== undefined)
    text = text.replace("port_value: 8001", `port_value: ${listed[0]}`).replace("port_value: 8002", `port_value: ${listed[1]}`);
  if (modes !== undefined)
    text = text
      .replace("request_body_mode: FULL_DUPLEX_STREAMED", `request_body_mode: ${modes[0]}`)
      .replace("response_body_mode: FULL_DUPLEX_STREAMED", `response_body_mode: ${modes[1]}`)
      .replaceAll("trailer_mode: SEND", "trailer_mode: SKIP");
  const file = join(folder, "envoy.yaml");
  writeFileSync(file, text);
  const args = ["--signal=KILL", String(LIFE_S), ENVOY, "--concurrency", "1", "--disable-hot-restart", "-l", "error", "-c", file];
  const child = spawn("timeout", args, { stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  await listening(port, child, () => errors);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    pid: child.pid!,
    // The group that "timeout" makes for itself and its command.
    kill: () => void process.kill(-child.pid!, "SIGKILL"),
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function listening(port: number, child: ChildProcess, errors: () => string): Promise<void> {
  for (let waited = 0; waited < 30_000 && child.exitCode === null; waited += 50) {
    if (await accepts(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Envoy does not listen: ${errors()}`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const done = (isOpen: boolean) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
