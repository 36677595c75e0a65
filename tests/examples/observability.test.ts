import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { parse } from "yaml";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { NO_PROMETHEUS, PROMETHEUS, PROMTOOL, type Prometheus, startPrometheus } from "../support/prometheus.ts";
import { type RouterProcess, startRouterProcess } from "../support/router-process.ts";

const FOLDER = join(import.meta.dirname ?? ".", "..", "..", "examples", "observability");
const read = (name: string) => readFileSync(join(FOLDER, name), "utf8");

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
}
const rules = (parse(read("rules.yml")) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);
const alerts = rules.flatMap(({ alert }) => alert ?? []);

interface Panel {
  readonly targets?: readonly { readonly expr: string }[];
}
interface Dashboard {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
}
const dashboard = JSON.parse(read("grafana-dashboard.json")) as Dashboard;

/** As Grafana fills them in, for a window of so many seconds. */
const filledIn = (expr: string) => expr.replaceAll("$__rate_interval", "10s").replace(/\$(instance|target|endpoint)/g, ".*");

describe("alert rules", { skip: !PROMTOOL && NO_PROMETHEUS }, () => {
  it("each fires in its staged fault, and only then", () => {
    const { status, stdout, stderr } = spawnSync("promtool", ["test", "rules", join(FOLDER, "rules.test.yml")], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout + stderr);
  });

  it("each has such a stage", () => {
    const staged = (parse(read("rules.test.yml")) as { tests: { name: string }[] }).tests.map(({ name }) => name);
    const wanted = alerts.flatMap((alert) => [`${alert} fires`, `${alert} does not fire while all is well`]);
    assert.deepEqual(staged.sort(), wanted.sort());
  });

  it("the config that loads them is valid", () => {
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "config", join(FOLDER, "prometheus.yml")], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stdout + stderr);
  });
});

const ROLLOUT = `  guards: [ { rule: food, target: food-v1, confidence: 0.999 } ]
  mirrors: [ { rule: food, target: food-v1, percent: 50 } ]
  shadow: { name: candidate, plugins: [ { pluginRef: queue } ] }
---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { name: default }
  rules:
    - matches: [ { model: { value: food } } ]
      targets: [ { modelRewrite: food-v1, weight: 50 }, { modelRewrite: m, weight: 50 } ]`;

/** What has no data in this traffic: every stream here reports its tokens. */
const QUIET = ["signalbox_estimated_output_tokens_total"];

describe("a Prometheus that scrapes a live router", { skip: !PROMETHEUS && NO_PROMETHEUS }, () => {
  let replicas: readonly MockReplica[] = [];
  let router: RouterProcess;
  let prometheus: Prometheus;
  let isOver = false;
  const clients: Promise<void>[] = [];

  before(async () => {
    replicas = await Promise.all(
      [0, 1, 2].map(() => startMockReplica({ model: "m", adapters: ["food-v1"], timeScale: 0.05, replyTokens: 12 })),
    );
    router = await startRouterProcess(
      replicas.map(({ url }) => url),
      { admin: "{ port: 0 }", spec: ROLLOUT },
    );
    prometheus = await startPrometheus({ "prometheus.yml": quickConfig(router.adminPort), "rules.yml": quickRules() });
    clients.push(...[0, 1, 2, 3].map((client) => beClient(client)));
  });
  after(async () => {
    isOver = true;
    await Promise.all(clients);
    await prometheus?.stop();
    router?.kill("SIGKILL");
    await router?.exited;
    await Promise.all(replicas.map((replica) => replica.close()));
  });

  /** One request after another: streams with usage, plain ones, rewritten ones, and such that can't be served. */
  async function beClient(client: number): Promise<void> {
    const bodies = [
      { model: "food", stream: true, stream_options: { include_usage: true } },
      { model: "m", stream: true, stream_options: { include_usage: true } },
      { model: "food", stream: false },
      { model: "nobody-has-this", stream: false },
    ];
    for (let turn = 0; !isOver; turn++) {
      const messages = [{ role: "user", content: `conversation ${turn % 5}, `.repeat(60) + turn }];
      await fetch(`http://127.0.0.1:${router.port}/v1/chat/completions`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ ...bodies[(client + turn) % bodies.length], messages }),
        signal: AbortSignal.timeout(10_000),
      })
        .then((answer) => answer.text())
        .catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Polls until the query has a result: a series needs two scrapes for its rate. */
  async function seen(expression: string): Promise<void> {
    for (let tries = 0; tries < 300; tries++) {
      if ((await prometheus.query(expression)).length > 0) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.fail(`Not seen: ${expression}`);
  }

  /** Polls until the alert fires with these labels. */
  async function fires(alert: string, labels: Readonly<Record<string, string>>): Promise<void> {
    const isMeant = (found: Readonly<Record<string, string>>) =>
      Object.entries({ ...labels, alertname: alert }).every(([label, value]) => found[label] === value);
    for (let tries = 0; tries < 400; tries++) {
      if ((await prometheus.firing()).some(isMeant)) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.fail(`${alert} does not fire`);
  }

  it("sees a router that is well: nothing critical fires", async () => {
    await seen(`sum(rate(signalbox_requests_total{status="2xx"}[10s])) > 1`);
    await seen(`sum(signalbox_endpoint_ready) == 3`);
    // Others may: rules that do not wait tell of every moment in which this machine is busy.
    assert.deepEqual(
      (await prometheus.firing()).filter(({ severity }) => severity === "critical"),
      [],
    );
  });

  it("every expression of the dashboard works, and has data where there is traffic", async () => {
    // Streams that break, so that there are tries that failed.
    for (const { faults } of replicas) await faults.set("resetAfterEvents", 2);
    await seen("signalbox_stream_broken_total > 0");
    for (const { faults } of replicas) await faults.clear("resetAfterEvents");
    for (const { targets = [] } of dashboard.panels) {
      for (const { expr } of targets) {
        if (QUIET.some((name) => expr.includes(name))) await prometheus.query(filledIn(expr));
        else await seen(filledIn(expr));
      }
    }
    for (const { expr } of dashboard.annotations.list) await prometheus.query(filledIn(expr));
  });

  it("every rule works, and what is recorded has data", async () => {
    for (const { expr } of rules) await prometheus.query(expr);
    for (const { record } of rules) if (record !== undefined) await seen(record);
  });

  it("alerts tell of a replica that fails, of one that is gone, and of a router that is down", async () => {
    const [first, gone, failing] = replicas as [MockReplica, MockReplica, MockReplica];
    await failing.faults.set("status", 500);
    await fires("SignalboxReplicaEjected", { endpoint: `127.0.0.1-${failing.port}` });
    // While others serve, few requests see it.
    for (const replica of [first, gone]) await replica.faults.set("status", 500);
    await fires("SignalboxReplicaErrors", { class: "replica" });
    await gone.faults.set("refuse", true);
    await fires("SignalboxReplicaNotReady", { endpoint: `127.0.0.1-${gone.port}`, phase: "not-ready" });
    router.kill("SIGKILL");
    await fires("SignalboxDown", { instance: `127.0.0.1:${router.adminPort}` });
  });
});

/** The example's config with this router and with short periods. */
function quickConfig(adminPort: number): string {
  const config = read("prometheus.yml").replaceAll("15s", "200ms").replace('127.0.0.1:9090"]', `127.0.0.1:${adminPort}"]`);
  assert.ok(config.includes(String(adminPort)) && config.includes("200ms"));
  return config;
}

/** The example's rules, without waiting until a fault has lasted for minutes. */
function quickRules(): string {
  return read("rules.yml").replace(/^ +for: .*\n/gm, "");
}
