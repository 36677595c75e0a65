import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parseAllDocuments } from "yaml";
import { loadTexts } from "../../config/load.ts";
import { readCheckArguments, readStartArguments } from "../../core/cli/arguments.ts";
import { createRouter } from "../../core/fetch.ts";
import { DEFAULT_LIMITS } from "../../core/settings.ts";
import { builtIns } from "../../plugins/registry.ts";
import { examplePath, exampleText } from "./example-files.ts";

const root = join(examplePath("."), "..");
const DRAIN_S = DEFAULT_LIMITS.drainTimeoutMs / 1000;

/** Parses a command line like the program; throws if the program would refuse it. */
function assertCommand([command, ...args]: readonly string[]): void {
  if (command === "start") assert.deepEqual(readStartArguments(args).files, ["/etc/signalbox"]);
  else if (command === "check") assert.deepEqual(readCheckArguments(args).paths, ["/etc/signalbox"]);
  else assert.fail(`There is no command ${command}`);
}

describe("signalbox.service", () => {
  const unit = exampleText("deploy/signalbox.service");
  const settingOf = (key: string) => new RegExp(`^${key}=(.*)$`, "m").exec(unit)?.[1] ?? "";

  it("runs commands that exist", () => {
    for (const key of ["ExecStartPre", "ExecStart"]) {
      const [node, main, ...args] = settingOf(key).split(" ");
      assert.equal(node, "/usr/bin/node");
      assert.ok(existsSync(join(root, main?.replace(/^\/opt\/signalbox\//, "") ?? "")), main);
      assertCommand(args);
    }
  });

  it("waits for the drain", () => assert.ok(Number(settingOf("TimeoutStopSec")) > DRAIN_S));
});

describe("Dockerfile", () => {
  const lines = exampleText("deploy/Dockerfile").split("\n");
  const listAfter = (word: string) =>
    JSON.parse(lines.find((line) => line.startsWith(`${word} [`))?.slice(word.length) ?? "[]") as readonly string[];

  it("copies every source folder, and only folders that exist", () => {
    const copied = lines.filter((line) => line.startsWith("COPY ")).flatMap((line) => line.split(" ").slice(1, -1));
    assert.deepEqual(copied, ["package.json", "package-lock.json", "core", "plugins", "config"]);
    for (const path of copied) assert.ok(existsSync(join(root, path)), path);
  });

  it("runs a command that exists", () => {
    assert.deepEqual(listAfter("ENTRYPOINT"), ["node", "--disable-sigusr1", "core/cli/signalbox.mjs"]);
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
      ["--disable-sigusr1", "core/cli/signalbox.mjs", "check", "-f", "examples/custom-scorer.yaml"],
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

/** The parts of a manifest that these tests read. */
interface Manifest {
  readonly kind: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly template?: {
      readonly spec: { readonly terminationGracePeriodSeconds: number; readonly containers: readonly Container[] };
    };
  };
}

interface Container {
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly readinessProbe: { readonly httpGet: { readonly path: string } };
  readonly livenessProbe: { readonly httpGet: { readonly path: string } };
  readonly volumeMounts: readonly { readonly mountPath: string }[];
}

describe("kubernetes.yaml", () => {
  const documents = parseAllDocuments(exampleText("deploy/kubernetes.yaml"));
  const [configMap, deployment, service] = documents.map((document) => document.toJS() as Manifest);
  const configText = configMap?.data?.["signalbox.yaml"] ?? "";
  const podSpec = deployment?.spec?.template?.spec;
  const container = podSpec?.containers[0];
  assert.ok(container, "the deployment has a container");

  it("has three valid documents", () => {
    assert.deepEqual(
      documents.flatMap(({ errors }) => errors),
      [],
    );
    assert.deepEqual(
      [configMap, deployment, service].map((document) => document?.kind),
      ["ConfigMap", "Deployment", "Service"],
    );
  });

  it("has a config that can run, on the port that the pod declares", async () => {
    const loaded = await loadTexts([{ file: "signalbox.yaml", text: configText }], builtIns);
    assert.equal(loaded.problems, undefined);
    assert.deepEqual(loaded.config?.listen, { host: "0.0.0.0", port: container.ports[0]?.containerPort });
  });

  it("starts with arguments that the program accepts, and the mounted config", () => {
    assertCommand(container.args);
    assert.equal(container.volumeMounts[0]?.mountPath, "/etc/signalbox");
  });

  it("probes paths that the router serves", async () => {
    const router = await createRouter({ text: configText });
    const statusOf = async (path: string) => (await router.fetch(new Request(`http://router${path}`))).status;
    assert.equal(await statusOf(container.livenessProbe.httpGet.path), 200);
    assert.equal(await statusOf(container.readinessProbe.httpGet.path), 503);
    router.close();
  });

  it("waits for the drain", () => assert.ok((podSpec?.terminationGracePeriodSeconds ?? 0) > DRAIN_S));
});
