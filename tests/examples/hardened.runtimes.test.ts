/** examples/hardened/: its config says what docs/security.md promises, and its container runs it. tests/e2e/hardened.runtimes.test.ts attacks it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parse } from "yaml";
import { commandsOf } from "../../apps/cli/commands.ts";
import { readInput } from "../../apps/cli/frame/command.ts";
import { startArguments } from "../../apps/cli/start/config-source.ts";
import { loadConfig } from "../../config/load.ts";
import { formatProblems } from "../../config/read/problems.ts";
import { affordableClients } from "../../core/runtime/open-file-limit.ts";
import { builtIns } from "../../plugins/registry.ts";
import { run } from "../support/cli.ts";
import { makeHardenedFiles } from "../support/hardened.ts";
import { examplePath, exampleText } from "./example-files.ts";

interface Service {
  readonly command: readonly string[];
  readonly user: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly pids_limit: number;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly networks: readonly string[];
  readonly mem_limit?: string;
  readonly ulimits?: { readonly nofile: number };
  readonly stop_grace_period?: string;
}
const compose = parse(exampleText("hardened/compose.yaml"), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>> & { readonly router: Service };
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
};
const { router: service, ...replicas } = compose.services;

async function load(files = makeHardenedFiles()) {
  const { config, problems } = await loadConfig([files.at("signalbox.yaml")], builtIns);
  assert.equal(problems && formatProblems(problems), undefined);
  return config!;
}

describe("signalbox.yaml", () => {
  it("loads with the files that it asks for, and lets nobody in before there is a key", async () => {
    const files = makeHardenedFiles();
    const config = await load(files);
    assert.ok(config.listen.tls && config.admin?.tls && config.admin.isReadOnly);
    assert.deepEqual(
      config.admin.tokens.map(({ role }) => role),
      ["read", "read"],
    );
    assert.equal((await run("check", "--strict", "-f", files.at("signalbox.yaml"))).code, 0);
    await files.newKey("alice", "--tenant", "search");
    assert.match((await run("key", "list", "-f", files.at("keys.yaml"))).out, /alice/);
    await load(files);
  });

  it("names every file that is missing", async () => {
    const { problems = [] } = await loadConfig([examplePath("hardened/signalbox.yaml")], builtIns);
    const text = formatProblems(problems);
    for (const name of ["tls/router.crt", "secrets/operators", "secrets/prometheus", "secrets/replicas"])
      assert.match(text, new RegExp(`found no file "[^"]*${name}"`));
  });
});

describe("compose.yaml", () => {
  it("runs the router on that file, with the folder read-only, and its ports", async () => {
    const [word, ...args] = service.command;
    const command = commandsOf(builtIns).find(({ name }) => name === word);
    assert.deepEqual(startArguments(readInput(args, command!)).files, ["/etc/signalbox/signalbox.yaml"]);
    assert.deepEqual(service.volumes, [".:/etc/signalbox:ro"]);
    const { listen, admin, settings } = await load();
    assert.deepEqual(service.ports, [`${listen.port}:${listen.port}`, `127.0.0.1:${admin?.port}:${admin?.port}`]);
    assert.deepEqual([listen.host, admin?.host], ["0.0.0.0", "0.0.0.0"]);
    const { limits } = settings;
    assert.ok(affordableClients(service.ulimits?.nofile).served >= limits.clientConnections);
    assert.ok(2 * limits.memoryBytes < Number.parseInt(service.mem_limit ?? "", 10) * 1024 * 1024);
    assert.ok(1000 * Number.parseInt(service.stop_grace_period ?? "", 10) > limits.settleMs + limits.drainTimeoutMs);
  });

  it("has the replicas that the config names, where only the router reaches them", async () => {
    const { pool } = await load();
    assert.deepEqual(
      pool.endpoints.map(({ url }) => new URL(url).host),
      Object.keys(replicas).map((name) => `${name}:8000`),
    );
    for (const { networks, ports } of Object.values(replicas)) assert.deepEqual([networks, ports], [["replicas"], undefined]);
    assert.equal(compose.networks["replicas"]?.internal, true);
  });

  it("lets nothing in it write, gain rights, or fork without end", () => {
    for (const each of [service, ...Object.values(replicas)]) {
      assert.deepEqual([each.user, each.read_only, each.cap_drop], ["1000:1000", true, ["ALL"]]);
      assert.deepEqual(each.security_opt, ["no-new-privileges:true"]);
      assert.ok(each.pids_limit > 0);
    }
  });
});
