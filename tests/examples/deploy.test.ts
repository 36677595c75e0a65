import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { parse, parseAllDocuments } from "yaml";
import { commandsOf } from "../../apps/cli/commands.ts";
import { readInput } from "../../apps/cli/frame/command.ts";
import { startArguments } from "../../apps/cli/start/config-source.ts";
import { createRouter } from "../../apps/fetch.ts";
import { loadTexts } from "../../config/load.ts";
import { DEFAULT_ADMIN } from "../../core/settings/default-admin.ts";
import { DEFAULT_LISTEN } from "../../core/settings/tables.ts";
import { DEFAULT_LIMITS } from "../../core/settings.ts";
import { builtIns } from "../../plugins/registry.ts";
import { manifestOf } from "../support/package/manifest.ts";
import { examplePath, exampleText } from "./example-files.ts";

const root = join(examplePath("."), "..");
const STOP_S = (DEFAULT_LIMITS.settleMs + DEFAULT_LIMITS.drainTimeoutMs) / 1000;

const inCheckout = (path = "") => join(root, path.replace(/^\/opt\/signalbox\//, ""));

/** A folder that is removed at the end. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-deploy-"));
  after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Why a test that needs the program is skipped; false if the program is here. */
function whyNoProgram(program: string): string | false {
  return spawnSync(program, ["--version"]).status === 0 ? false : `${program} is not here`;
}

/** Parses a command line like the program; throws if the program would refuse it. */
function assertCommand([word, ...args]: readonly string[]): void {
  const command = commandsOf(builtIns).find(({ name }) => name === word);
  assert.equal(command?.name, "start");
  assert.deepEqual(startArguments(readInput(args, command)).files, ["/etc/signalbox"]);
}

describe("signalbox.service", () => {
  const unit = exampleText("deploy/signalbox.service");
  const settingsOf = (key: string) => [...unit.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value]) => value ?? "");
  const settingOf = (key: string) => settingsOf(key)[0] ?? "";

  it("runs programs that exist, with a command that exists, on the config that was checked", () => {
    const [node, main, ...args] = settingOf("ExecStart").split(" ");
    assert.equal(node, "/usr/bin/node");
    assert.ok(existsSync(inCheckout(main)), main);
    assert.deepEqual(args, ["start", "-f", "/var/lib/signalbox/config"]);
    const take = ["/opt/signalbox/examples/deploy/take-config.sh", "/etc/signalbox", "/var/lib/signalbox/config"];
    assert.deepEqual(settingOf("ExecStartPre").split(" "), [...take, "--or-last"]);
    assert.deepEqual(settingsOf("ExecReload"), [take.join(" "), "/bin/kill -HUP $MAINPID"]);
    assert.equal(settingOf("StateDirectory"), "signalbox");
  });

  it("hears of the router's state from a child of it", () => {
    assert.deepEqual([settingOf("Type"), settingOf("NotifyAccess")], ["notify", "all"]);
  });

  it("is sandboxed, but for compiling as it runs", () => {
    for (const key of ["PrivateDevices", "ProtectKernelTunables", "RestrictNamespaces", "NoNewPrivileges"])
      assert.equal(settingOf(key), "yes", key);
    assert.deepEqual(settingsOf("MemoryDenyWriteExecute"), []);
  });

  it("waits for settle time and drain", () => assert.ok(Number(settingOf("TimeoutStopSec")) > STOP_S));

  it("runs the package too, by a drop-in that changes its paths alone", () => {
    const linesIn = (text: string) => text.split("\n").filter((line) => /^Exec\w+=./.test(line));
    const { signalbox } = manifestOf(JSON.parse(readFileSync(join(root, "package.json"), "utf8")), undefined).bin;
    const inPackage = (line: string) =>
      line.replace("apps/cli/signalbox.mjs", signalbox).replace("/opt/signalbox/", "/opt/signalbox/node_modules/signalbox/");
    const dropIn = exampleText("deploy/package.conf");
    assert.deepEqual(linesIn(dropIn), linesIn(unit).map(inPackage));
    // A list of commands is emptied first.
    for (const key of ["ExecStartPre", "ExecStart", "ExecReload"]) assert.match(dropIn, new RegExp(`^${key}=\n${key}=/`, "m"));
  });

  it("is accepted by systemd", { skip: whyNoProgram("systemd-analyze") }, () => {
    const folder = newFolder();
    const file = join(folder, "signalbox.service");
    // Where this checkout and this runtime are.
    writeFileSync(file, unit.replaceAll("/usr/bin/node", process.execPath).replaceAll("/opt/signalbox", join(root, ".")));
    const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", file], { encoding: "utf8" });
    const said = (stdout + stderr).split("\n").filter((line) => line.includes("signalbox"));
    assert.deepEqual([status, said], [0, []]);
  });
});

describe("take-config.sh", () => {
  const good = "apiVersion: signalbox/v1\nkind: Router\nspec: { pool: { endpoints: [ { url: 'http://gpu1:8000' } ] } }\n";
  const bad = good.replace("pool", "pol");

  it("is well confined, as systemd counts it (0 to 10)", { skip: whyNoProgram("systemd-analyze") }, () => {
    const words = ["security", "--offline=true", "--threshold=20", examplePath("deploy/signalbox.service")];
    const { status, stdout, stderr } = spawnSync("systemd-analyze", words, { encoding: "utf8" });
    assert.equal(status, 0, stdout.slice(-200) + stderr);
  });

  it("takes a good config, keeps the last one over a bad one, and fails unless it is told to go on with the last one", {
    timeout: 60_000,
  }, () => {
    const folder = newFolder();
    const [from, to] = [join(folder, "etc"), join(folder, "config")];
    mkdirSync(from);
    const take = (text: string, ...mode: readonly string[]) => {
      writeFileSync(join(from, "signalbox.yaml"), text);
      const { status, stdout, stderr } = spawnSync(examplePath("deploy/take-config.sh"), [from, to, ...mode], {
        env: { ...process.env, NODE: "node" },
        encoding: "utf8",
      });
      return { status, said: stdout + stderr };
    };
    const taken = () => readFileSync(join(to, "signalbox.yaml"), "utf8");

    assert.equal(take(bad, "--or-last").status, 1);
    assert.ok(!existsSync(to), "there is no last one yet");
    assert.equal(take(good).status, 0);
    assert.equal(taken(), good);
    const refused = take(bad);
    assert.equal(refused.status, 1);
    assert.match(refused.said, /pol/);
    const kept = take(bad, "--or-last");
    assert.equal(kept.status, 0);
    assert.match(kept.said, /the last good one/);
    assert.equal(taken(), good);
    const next = good.replace("gpu1", "gpu2");
    assert.equal(take(next, "--or-last").status, 0);
    assert.equal(taken(), next);
    assert.deepEqual(readdirSync(folder).sort(), ["config", "etc"]);
  });
});

describe("take-config.sh of the package", () => {
  it("checks with the package's program", { timeout: 30_000 }, () => {
    const folder = newFolder();
    for (const path of ["apps/cli", "examples/deploy", "etc"]) mkdirSync(join(folder, path), { recursive: true });
    const script = join(folder, "examples/deploy/take-config.sh");
    cpSync(examplePath("deploy/take-config.sh"), script);
    writeFileSync(
      join(folder, "apps/cli/bin.mjs"),
      `await import(${JSON.stringify(pathToFileURL(inCheckout("apps/cli/signalbox.mjs")))});\n`,
    );
    writeFileSync(join(folder, "etc/a.yaml"), "apiVersion: signalbox/v1\nkind: Router\nspec: { pol: 1 }\n");
    const { status, stdout, stderr } = spawnSync(script, [join(folder, "etc"), join(folder, "config")], {
      env: { ...process.env, NODE: "node" },
      encoding: "utf8",
    });
    assert.equal(status, 1);
    assert.match(stdout + stderr, /pol/);
  });
});

describe("Dockerfile", () => {
  const lines = exampleText("deploy/Dockerfile").split("\n");
  const listAfter = (word: string) =>
    JSON.parse(lines.find((line) => line.startsWith(`${word} [`))?.slice(word.length) ?? "[]") as readonly string[];

  it("installs the package, and nothing of the checkout", () => {
    const copied = lines.filter((line) => line.startsWith("COPY "));
    assert.deepEqual(copied, ["COPY signalbox-*.tgz /tmp/signalbox.tgz"]);
    const { signalbox } = manifestOf(JSON.parse(readFileSync(join(root, "package.json"), "utf8")), undefined).bin;
    assert.ok(listAfter("ENTRYPOINT").at(-1)?.endsWith(`/signalbox/${signalbox}`));
    // What people call in the container: compose.yaml and kubernetes.yaml say so.
    assert.ok(lines.includes("ENV PATH=/opt/signalbox/node_modules/.bin:$PATH") && lines.includes("WORKDIR /opt/signalbox"));
  });

  it("runs as nobody special, and is asked whether it serves", () => {
    assert.ok(lines.indexOf("USER node") < lines.findIndex((line) => line.startsWith("ENTRYPOINT")));
    const health = lines.find((line) => line.startsWith("HEALTHCHECK")) ?? "";
    assert.match(health, new RegExp(`http://127\\.0\\.0\\.1:${DEFAULT_LISTEN.port}/health`));
  });

  it("runs a command that exists, as process 1, and names its ports", () => {
    assert.ok(lines.includes(`EXPOSE ${DEFAULT_LISTEN.port} ${DEFAULT_ADMIN.port}`));
    assert.deepEqual(listAfter("ENTRYPOINT"), ["node", "--disable-sigusr1", "node_modules/signalbox/apps/cli/bin.mjs"]);
    assertCommand(listAfter("CMD"));
  });

  it("runs TypeScript without help from Node 24 on", (t) => {
    const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);
    if (!isNode || Number(process.versions.node.split(".")[0]) < 24) {
      t.skip("this is not Node 24");
      return;
    }
    const checked = spawnSync(
      process.execPath,
      ["--disable-sigusr1", "apps/cli/signalbox.mjs", "check", "-f", "examples/custom-scorer.yaml"],
      {
        cwd: root,
        env: { ...process.env, NODE_OPTIONS: "" },
        encoding: "utf8",
        timeout: 30_000,
      },
    );
    assert.equal(checked.status, 0, checked.stdout + checked.stderr);
  });
});

describe("compose.yaml", () => {
  interface Service {
    readonly command: readonly string[];
    readonly read_only: boolean;
    readonly cap_drop: readonly string[];
    readonly stop_grace_period?: string;
  }
  const { services } = parse(exampleText("deploy/compose.yaml"), { merge: true }) as {
    readonly services: Readonly<Record<string, Service>>;
  };

  it("has a router over the replicas beside it, with commands that exist", () => {
    const [word, ...args] = services["router"]?.command ?? [];
    const command = commandsOf(builtIns).find(({ name }) => name === word);
    assert.ok(command);
    const { urls, host } = startArguments(readInput(args, command));
    assert.equal(host, "0.0.0.0");
    assert.deepEqual(
      urls.map((url) => new URL(url).hostname),
      Object.keys(services).filter((name) => name !== "router"),
    );
    for (const name of ["replica1", "replica2"]) assert.equal(services[name]?.command[0], "mock");
  });

  it("can write nothing, may do nothing, and has time to stop", () => {
    for (const { read_only: isReadOnly, cap_drop: dropped } of Object.values(services))
      assert.deepEqual([isReadOnly, dropped], [true, ["ALL"]]);
    assert.ok(Number.parseInt(services["router"]?.stop_grace_period ?? "", 10) > STOP_S);
  });
});

/** The parts of a manifest that these tests read. */
interface Manifest {
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly replicas?: number;
    readonly maxUnavailable?: number;
    readonly podSelector?: unknown;
    readonly policyTypes?: unknown;
    readonly ingress?: readonly { readonly from?: unknown; readonly ports: readonly { readonly port: string }[] }[];
    readonly strategy?: unknown;
    readonly selector?: { readonly matchLabels?: unknown } & Readonly<Record<string, unknown>>;
    readonly ports?: readonly { readonly targetPort: string }[];
    readonly template?: {
      readonly metadata: { readonly labels: unknown; readonly annotations: Readonly<Record<string, string>> };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly securityContext: { readonly runAsNonRoot: boolean };
        readonly containers: readonly Container[];
      };
    };
  };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold?: number;
}

interface Container {
  readonly args: readonly string[];
  readonly imagePullPolicy: string;
  readonly securityContext: object;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}

const documents = parseAllDocuments(exampleText("deploy/kubernetes.yaml"));
const [configMap, deployment, budget, service, policy] = documents.map((document) => document.toJS() as Manifest);
const configText = configMap?.data?.["signalbox.yaml"] ?? "";
const template = deployment?.spec?.template;
const container = template?.spec.containers[0];
assert.ok(template && container, "the deployment has a container");
const portOf = (name: string) => container.ports.find((port) => port.name === name)?.containerPort;
const { config, problems } = await loadTexts([{ file: "signalbox.yaml", text: configText }], builtIns);
const limits = config?.settings.limits;

describe("kubernetes.yaml", () => {
  it("has five valid documents", () => {
    assert.deepEqual(
      documents.flatMap(({ errors }) => errors),
      [],
    );
    assert.deepEqual(
      documents.map((document) => document.toJS().kind),
      ["ConfigMap", "Deployment", "PodDisruptionBudget", "Service", "NetworkPolicy"],
    );
    assert.deepEqual(template.metadata.labels, deployment?.spec?.selector?.matchLabels);
    assert.deepEqual(template.metadata.labels, service?.spec?.selector);
    assert.equal(service?.spec?.ports?.[0]?.targetPort, "http");
  });

  it("has a config that can run, on the ports that the pod declares, reachable from outside of it", () => {
    assert.equal(problems, undefined);
    assert.deepEqual([config?.listen.host, config?.listen.port], ["0.0.0.0", portOf("http")]);
    assert.deepEqual([config?.admin?.host, config?.admin?.port], ["0.0.0.0", portOf("metrics")]);
  });

  it("tells Prometheus where the metrics are", () => {
    assert.deepEqual(template.metadata.annotations, {
      "prometheus.io/scrape": "true",
      "prometheus.io/port": String(portOf("metrics")),
      "prometheus.io/path": "/metrics",
    });
  });

  it("lets clients come from anywhere, and to the admin port nobody but Prometheus", () => {
    const rules = policy?.spec?.ingress ?? [];
    assert.deepEqual(policy?.spec?.podSelector, { matchLabels: template.metadata.labels });
    assert.deepEqual(policy?.spec?.policyTypes, ["Ingress"]);
    assert.deepEqual(
      rules.map(({ from, ports }) => [from === undefined, ports.map(({ port }) => port)]),
      [
        [true, ["http"]],
        [false, ["metrics"]],
      ],
    );
    // The names of the policy are those of the pod's ports.
    for (const { ports } of rules) for (const { port } of ports) assert.ok(portOf(port), port);
  });

  it("starts with arguments that the program accepts, and the mounted config", () => {
    assertCommand(container.args);
    assert.equal(container.volumeMounts[0]?.mountPath, "/etc/signalbox");
  });

  it("probes paths that the router serves", async () => {
    const router = await createRouter({ text: configText });
    const statusOf = async ({ httpGet: { path, port } }: Probe) => {
      assert.equal(port, "http");
      return (await router.fetch(new Request(`http://router${path}`))).status;
    };
    assert.equal(await statusOf(container.livenessProbe), 200);
    assert.equal(await statusOf(container.readinessProbe), 503);
    router.close();
  });

  it("settles for longer than the readiness probe takes to notice", () => {
    const { periodSeconds, failureThreshold = 3 } = container.readinessProbe;
    assert.ok((limits?.settleMs ?? 0) > 2 * periodSeconds * failureThreshold * 1000);
  });

  it("waits for settle time and drain", () => {
    const stopS = ((limits?.settleMs ?? 0) + (limits?.drainTimeoutMs ?? 0)) / 1000;
    assert.ok(template.spec.terminationGracePeriodSeconds > stopS);
  });

  it("leaves one router while a node is drained", () => {
    assert.deepEqual(budget?.spec?.selector, { matchLabels: template.metadata.labels });
    assert.ok((budget?.spec?.maxUnavailable ?? 0) < (deployment?.spec?.replicas ?? 0));
  });

  it("runs without rights that it does not need, from an image that may be on the node already", () => {
    assert.equal(template.spec.securityContext.runAsNonRoot, true);
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    assert.equal(container.imagePullPolicy, "IfNotPresent");
  });

  it("keeps the old pods until new ones are ready", () => {
    assert.deepEqual(deployment?.spec?.strategy, { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
  });
});
