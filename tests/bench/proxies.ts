import { existsSync } from "node:fs";
import { join } from "node:path";
import { ASKED_MODEL, TARGETS } from "./traffic.ts";

/** Where a proxy is to run. The folder is its own. */
export interface Place {
  readonly port: number;
  /** With the certificate and the key in its folder. */
  readonly isTls: boolean;
  /** For what the proxy serves beside its traffic. */
  readonly sidePort: number;
  readonly upstreamPorts: readonly number[];
  readonly folder: string;
}

/** How a proxy is started: a command, and the files that it reads from its folder. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Contender {
  readonly name: string;
  /** The program; it is looked for before the run, in the PATH unless it is a path. */
  readonly program: string;
  /** Whether it can be measured with TLS on its port. */
  readonly hasTls: boolean;
  /** Runs without being asked for by name. */
  readonly isDefault: boolean;
  readonly launch: (place: Place) => Launch;
}

export const CERT_FILE = "proxy.crt";
export const KEY_FILE = "proxy.key";
export const root = join(import.meta.dirname, "..", "..");
const BIN = join(root, "node_modules", ".bin");
const ROUTER = join("apps", "cli", "signalbox.mjs");
const PEERS = process.env["SIGNALBOX_PEERS"] ?? "";

/** All that can be measured, nginx first: the others are told as multiples of it. */
export function contenders(): readonly Contender[] {
  return [...packaged, ...ours(), ...peers];
}

const packaged: readonly Contender[] = [
  {
    name: "nginx",
    hasTls: true,
    program: "nginx",
    isDefault: true,
    launch: (place) => ({
      command: "nginx",
      args: ["-c", join(place.folder, "nginx.conf"), "-p", place.folder, "-e", "stderr"],
      files: { "nginx.conf": nginxConfig(place) },
    }),
  },
  {
    name: "haproxy",
    hasTls: false,
    program: "haproxy",
    isDefault: true,
    launch: (place) => ({
      command: "haproxy",
      args: ["-db", "-f", join(place.folder, "haproxy.cfg")],
      files: { "haproxy.cfg": haproxyConfig(place) },
    }),
  },
];

/** Our router on each runtime; SIGNALBOX_NODES names other Node binaries than the one that runs this. */
function ours(): readonly Contender[] {
  const [firstNode] = (process.env["SIGNALBOX_NODES"] ?? "").split(":").filter(Boolean);
  return [
    router(nodeName(firstNode), firstNode ?? process.execPath, []),
    router("deno", join(BIN, "deno"), ["run", "-A", "--no-check", "--no-lock", "--v8-flags=--no-memory-reducer"]),
    router("bun", join(BIN, "bun"), []),
  ];
}

/** "node24" where the path says so, else "node" and the version that runs this. */
function nodeName(path: string | undefined): string {
  const version = path === undefined ? process.versions.node.split(".")[0] : /node-?v?(\d+)/.exec(path)?.[1];
  return `node${version ?? ""}`;
}

/** The router on one runtime, with these switches of the runtime. */
export function router(name: string, program: string, switches: readonly string[]): Contender {
  return {
    name,
    program,
    hasTls: true,
    isDefault: true,
    launch: (place) => ({
      command: program,
      args: [...switches, ROUTER, "start", "-f", join(place.folder, "router.yaml")],
      files: { "router.yaml": routerConfig(place) },
      env: { NODE_ENV: "production" },
    }),
  };
}

const peers: readonly Contender[] = [
  {
    name: "envoy",
    hasTls: false,
    program: join(PEERS, "bin", "envoy"),
    isDefault: PEERS !== "",
    launch: (place) => ({
      command: join(PEERS, "bin", "envoy"),
      args: ["--concurrency", "1", "--log-level", "error", "--disable-hot-restart", "-c", join(place.folder, "envoy.json")],
      files: { "envoy.json": JSON.stringify(envoyConfig(place)) },
    }),
  },
  {
    name: "smg",
    hasTls: false,
    program: join(PEERS, "bin", "smg"),
    isDefault: PEERS !== "",
    launch: (place) => ({
      command: join(PEERS, "bin", "smg"),
      args: [
        "launch",
        ...rustRouterArgs(place),
        ...[
          "--health-check-interval-secs",
          "1",
          "--disable-tokenizer-autoload",
          "--prometheus-host",
          "127.0.0.1",
          "--log-level",
          "error",
        ],
      ],
    }),
  },
  {
    name: "vllm-router",
    hasTls: false,
    program: join(PEERS, "bin", "vllm-router"),
    isDefault: PEERS !== "",
    launch: (place) => ({
      command: join(PEERS, "bin", "vllm-router"),
      args: [...rustRouterArgs(place), "--prometheus-host", "127.0.0.1", "--log-level", "error"],
    }),
  },
];

/** Whether the proxy's program is here. */
export function isInstalled({ program }: Contender): boolean {
  if (program.includes("/")) return existsSync(program);
  const folders = [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin", "/usr/local/sbin"];
  return folders.some((folder) => existsSync(join(folder, program)));
}

const nginxConfig = ({ port, isTls, upstreamPorts, folder }: Place) => `
daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${folder}/nginx.pid;
error_log stderr crit;
events { worker_connections 10000; }
http {
  access_log off;
  keepalive_requests 100000000;
  client_max_body_size 64m;
  client_body_buffer_size 2m;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  upstream replicas {
${upstreamPorts.map((upstream) => `    server 127.0.0.1:${upstream};`).join("\n")}
    keepalive 4096;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port}${isTls ? " ssl" : ""} backlog=4096;${isTls ? nginxTls(folder) : ""}
    location / {
      proxy_pass http://replicas;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;

const nginxTls = (folder: string) => `
    ssl_certificate ${join(folder, CERT_FILE)};
    ssl_certificate_key ${join(folder, KEY_FILE)};
    ssl_protocols TLSv1.3;`;

const haproxyConfig = ({ port, upstreamPorts }: Place) => `
global
  nbthread 1
  maxconn 9000
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout http-keep-alive 60s
  option http-no-delay
  http-reuse always
frontend clients
  bind 127.0.0.1:${port} backlog 4096
  default_backend replicas
backend replicas
  balance roundrobin
${upstreamPorts.map((upstream) => `  server replica-${upstream} 127.0.0.1:${upstream} pool-max-conn 4096`).join("\n")}
`;

/** The default profile and a rewrite, less the access log, which the others are spared too. */
const routerConfig = ({ port, isTls, sidePort, upstreamPorts }: Place) => `
apiVersion: signalbox/v1
kind: Router
spec:
  listen: { host: 127.0.0.1, port: ${port}${isTls ? `, tls: { certFile: ${CERT_FILE}, keyFile: ${KEY_FILE}, minVersion: TLSv1.3 }` : ""} }
  admin: { host: 127.0.0.1, port: ${sidePort} }
  pool:
    name: bench
    endpoints:
${upstreamPorts.map((upstream) => `      - { url: "http://127.0.0.1:${upstream}" }`).join("\n")}
    probes:
      startup: { initialDelaySeconds: 0, periodSeconds: 1 }
  plugins: [ { type: access-log, parameters: { format: none } } ]
---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: bench }
spec:
  poolRef: { group: inference.networking.k8s.io, name: bench }
  rules:
    - matches: [ { model: { type: Exact, value: ${ASKED_MODEL} } } ]
      targets: [ { modelRewrite: ${TARGETS[0]}, weight: 90 }, { modelRewrite: ${TARGETS[1]}, weight: 10 } ]
`;

function rustRouterArgs({ port, sidePort, upstreamPorts }: Place): readonly string[] {
  return [
    ...["--host", "127.0.0.1", "--port", String(port), "--policy", "cache_aware"],
    ...["--worker-urls", ...upstreamPorts.map((upstream) => `http://127.0.0.1:${upstream}`)],
    ...["--worker-startup-check-interval", "1", "--max-concurrent-requests", "8192", "--prometheus-port", String(sidePort)],
  ];
}

function envoyConfig({ port, upstreamPorts }: Place) {
  const address = (portValue: number) => ({ socket_address: { address: "127.0.0.1", port_value: portValue } });
  const http = {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: "bench",
    route_config: {
      virtual_hosts: [
        { name: "all", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: "replicas", timeout: "0s" } }] },
      ],
    },
    http_filters: [
      {
        name: "envoy.filters.http.router",
        typed_config: { "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router" },
      },
    ],
  };
  const endpoints = upstreamPorts.map((upstream) => ({ endpoint: { address: address(upstream) } }));
  const breaker = { max_connections: 9000, max_pending_requests: 9000, max_requests: 9000 };
  return {
    static_resources: {
      listeners: [
        {
          address: address(port),
          filter_chains: [{ filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: http }] }],
        },
      ],
      clusters: [
        {
          name: "replicas",
          type: "STATIC",
          load_assignment: { cluster_name: "replicas", endpoints: [{ lb_endpoints: endpoints }] },
          circuit_breakers: { thresholds: [breaker] },
        },
      ],
    },
  };
}
