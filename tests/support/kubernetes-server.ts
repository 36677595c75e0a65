import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubernetesClient } from "../../apps/kubernetes/client.ts";
import { findCredentials } from "../../apps/kubernetes/credentials.ts";
import { systemClock } from "../../core/contract/clock.ts";
import { freePort } from "./prometheus.ts";

/** A folder with a real kube-apiserver; etcd is on the PATH. Where they are absent, tests say so. */
const FOLDER = process.env["SIGNALBOX_KUBERNETES"] ?? "";
const missing = [
  ...(FOLDER === "" ? ["SIGNALBOX_KUBERNETES is not set"] : []),
  ...(FOLDER !== "" && !existsSync(join(FOLDER, "kube-apiserver")) ? [`there is no kube-apiserver in ${FOLDER}`] : []),
  ...["etcd", "openssl"].filter((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status !== 0).map((name) => `no ${name}`),
];
/** Why there is no API server; "" if there is one. */
export const NO_KUBERNETES =
  missing.length === 0 ? "" : `${missing.join(", ")}: the Kubernetes client was NOT tested with a real API server`;
if (NO_KUBERNETES !== "") console.error(`SKIPPED: ${NO_KUBERNETES}`);

/** A real API server, with no node and no controller: tests write what those would write. */
export interface KubernetesServer {
  readonly address: string;
  /** Of the server's own certificate, of a user's. */
  readonly files: { readonly ca: string; readonly clientChain: string; readonly clientKey: string; readonly kubeconfig: string };
  /** As an administrator. */
  readonly admin: KubernetesClient;
  /** Ends the API server, not its data. */
  kill(): Promise<void>;
  /** Starts it again, and resolves once it is ready. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const START_MS = 60_000;
/** They end themselves after this, whatever became of the test. */
const LIFE_S = 600;
const TOKEN = "admin-token";

/**
 * One server for all files of a process. Each calls this when it is loaded, before any test runs, and says whether its tests are
 * skipped; the server ends when the last of the others has called `release`.
 */
export function sharedKubernetes(skip: string | false): { get(): Promise<KubernetesServer>; release(): Promise<void> } {
  if (skip === false) users += 1;
  return {
    get() {
      shared ??= startKubernetes();
      return shared;
    },
    async release() {
      users -= 1;
      if (users === 0) await shared?.then((server) => server.stop());
    },
  };
}

/** What several files need of the server that they share, done by the first one. */
export function oncePerServer(run: (server: KubernetesServer) => Promise<void>): (server: KubernetesServer) => Promise<void> {
  const done = new WeakMap<KubernetesServer, Promise<void>>();
  return (server) => {
    const doing = done.get(server) ?? run(server);
    done.set(server, doing);
    return doing;
  };
}

let users = 0;
let shared: Promise<KubernetesServer> | undefined;

/** Starts one with data of its own. */
async function startKubernetes(): Promise<KubernetesServer> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-kubernetes-"));
  const [port, etcdPort, peerPort] = [await keptPort(), await freePort(), await freePort()];
  const address = `https://127.0.0.1:${port}`;
  const etcd = start("etcd", [
    ...["--data-dir", join(folder, "etcd"), "--listen-peer-urls", `http://127.0.0.1:${peerPort}`],
    ...["--listen-client-urls", `http://127.0.0.1:${etcdPort}`, "--advertise-client-urls", `http://127.0.0.1:${etcdPort}`],
    ...["--unsafe-no-fsync"],
  ]);
  const { clientCa, clientChain, clientKey } = writeCertificates(folder);
  const serviceKey = join(FOLDER, "sa.key");
  const startServer = () =>
    start(join(FOLDER, "kube-apiserver"), [
      ...["--etcd-servers", `http://127.0.0.1:${etcdPort}`, "--cert-dir", folder, "--bind-address", "127.0.0.1"],
      ...["--secure-port", String(port), "--service-account-key-file", serviceKey],
      ...["--service-account-signing-key-file", serviceKey, "--service-account-issuer", "https://kubernetes.local"],
      ...["--token-auth-file", join(FOLDER, "tokens.csv"), "--client-ca-file", clientCa, "--authorization-mode", "RBAC"],
      ...["--service-cluster-ip-range", "10.0.0.0/24", "--disable-admission-plugins", "ServiceAccount"],
    ]);
  let server = startServer();
  const ca = join(folder, "apiserver.crt");
  const kubeconfig = join(folder, "kubeconfig");
  writeFileSync(kubeconfig, adminConfig(address, ca));
  const client = () =>
    new KubernetesClient(
      findCredentials({ kubeconfig }, { clock: systemClock, environment: process.env }),
      systemClock,
      Math.random,
    );
  const stop = async () => {
    await Promise.all([server.end(), etcd.end()]);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await ready(server, ca, client);
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  return {
    address,
    files: { ca, clientChain, clientKey, kubeconfig },
    admin: client(),
    kill: () => server.end(),
    async restart() {
      // A killed process keeps its port until the system has cleared it away.
      while (!(await isFree(port))) await new Promise((resolve) => setTimeout(resolve, 20));
      server = startServer();
      await ready(server, ca, client);
    },
    stop,
  };
}

/** No port that the system gives to a connection while the server is away: it has to find it free again. */
async function keptPort(): Promise<number> {
  const first = Number(readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").split("\t")[0]);
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * (first - 10_000));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

interface Program {
  readonly child: ChildProcess;
  readonly errors: { text: string };
  end(): Promise<void>;
}

function start(command: string, args: readonly string[]): Program {
  const child = spawn("timeout", ["--signal=KILL", String(LIFE_S), command, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  const errors = { text: "" };
  child.stderr?.on("data", (chunk: Buffer) => {
    errors.text = `${errors.text}${chunk}`.slice(-2000);
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    child,
    errors,
    async end() {
      // A server that is asked to end waits a minute for its watches. timeout leads a process group of its own.
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, "SIGKILL");
      await ended;
    },
  };
}

async function ready({ child, errors }: Program, ca: string, client: () => KubernetesClient): Promise<void> {
  const fromMs = performance.now();
  const { signal } = new AbortController();
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The API server has ended: ${errors.text}`);
    if (performance.now() - fromMs > START_MS)
      throw new Error(`The API server is not ready after ${START_MS} ms: ${errors.text}`);
    try {
      // Its namespace "default" comes last of what it makes for itself.
      if (existsSync(ca) && readFileSync(ca, "utf8") !== "") {
        await client().request("GET", "/api/v1/namespaces/default");
        // One that was killed knows its namespaces before it serves the kinds that were added.
        await client().stream("/readyz/poststarthook/crd-informer-synced", { signal, begun() {}, bytes() {} });
        return;
      }
    } catch {
      // Not yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** An authority of the test's own, and the certificate of an administrator. */
function writeCertificates(folder: string) {
  const at = (name: string) => join(folder, name);
  const openssl = (...args: string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", "-x509", ...key, "-keyout", at("client-ca.key"), "-out", at("client-ca.crt"), "-subj", "/CN=test", "-days", "2");
  openssl(
    "req",
    "-new",
    ...key,
    "-keyout",
    at("client.key"),
    "-out",
    at("client.csr"),
    "-subj",
    "/O=system:masters/CN=certified",
  );
  openssl(
    ...["x509", "-req", "-in", at("client.csr"), "-CA", at("client-ca.crt"), "-CAkey", at("client-ca.key"), "-CAcreateserial"],
    ...["-out", at("client.crt"), "-days", "2"],
  );
  return { clientCa: at("client-ca.crt"), clientChain: at("client.crt"), clientKey: at("client.key") };
}

function adminConfig(address: string, ca: string): string {
  return JSON.stringify({
    "current-context": "admin",
    clusters: [{ name: "test", cluster: { server: address, "certificate-authority": ca } }],
    users: [{ name: "admin", user: { token: TOKEN } }],
    contexts: [{ name: "admin", context: { cluster: "test", user: "admin" } }],
  });
}
