import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { KubernetesError } from "../../../../apps/kubernetes/kubernetes-error.ts";
import { ClusterResources } from "../../../../apps/kubernetes/resources/cluster-resources.ts";
import { clusterView } from "../../../../apps/kubernetes/resources/cluster-view.ts";
import { type LoadedConfig, loadTexts, type RefusedConfig } from "../../../../config/load.ts";
import { RunningConfig } from "../../../../config/running/running-config.ts";
import { silentLog } from "../../../../core/contract/log.ts";
import { builtIns } from "../../../../plugins/registry.ts";
import { collectedLog } from "../../../support/collected-log.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const FILE = {
  file: "a.yaml",
  text: `apiVersion: signalbox/v1
kind: Router
spec:
  pool: { name: llama, endpoints: [ { url: "http://gpu1:8000" } ] }
  kubernetes: { resources: true, router: main }
`,
};
const ROUTERS = "/apis/signalbox.dev/v1/namespaces/llm/routers";
const REWRITES = "/apis/llm-d.ai/v1alpha2/namespaces/llm/inferencemodelrewrites";

interface Written {
  readonly path: string;
  readonly status: {
    readonly conditions: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
    readonly [key: string]: unknown;
  };
}

interface Stored {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec?: object;
}

const patchedBy = ({ metadata, ...rest }: Stored, status: object, version: number) => {
  return { ...rest, metadata: { ...metadata, resourceVersion: String(version) }, status };
};

/** A router's config over a cluster that the test writes; each watch ends after a second, so that changes are listed anew. */
async function setUp() {
  const clock = new FakeClock();
  const log = collectedLog();
  const objects = new Map<string, readonly Stored[]>([
    [ROUTERS, []],
    [REWRITES, []],
  ]);
  const written: Written[] = [];
  let version = 0;
  const client = {
    async request(method: string, path: string, { body }: { readonly body?: unknown } = {}): Promise<unknown> {
      if (method === "PATCH") {
        const [list, name] = [path.split("/").slice(0, -2).join("/"), path.split("/").at(-2)!];
        const { status } = body as Written;
        written.push({ path: name, status });
        version += 1;
        const patched = (each: Stored) => (each.metadata.name === name ? patchedBy(each, status, version) : each);
        objects.set(list, objects.get(list)!.map(patched));
        return {};
      }
      if (method !== "GET") return {};
      const items = objects.get(path.split("?")[0]!);
      if (items === undefined) throw new KubernetesError(404, "NotFound", "It is not there.");
      version += 1;
      return { metadata: { resourceVersion: String(version) }, items };
    },
    stream: (_path: string, { begun }: { begun(): void }) =>
      new Promise<void>((_resolve, reject) => {
        begun();
        clock.after(1_000, () => reject(new KubernetesError(410, "Expired", "List again.")));
      }),
  };
  const cluster = new ClusterResources({
    ...{ client, namespace: "llm", router: "main", identity: "router-1", clock, random: () => 0, log },
  });
  const load = (overlay: Parameters<typeof loadTexts>[3]) =>
    cluster.load((resources): Promise<LoadedConfig | RefusedConfig> => loadTexts([FILE, ...resources], builtIns, [], overlay));
  cluster.start();
  await clock.advance(10);
  const first = await load({ rewrites: [] });
  assert.ok(first.problems === undefined);
  const broken = { plugin: "" };
  const running = new RunningConfig({
    loaded: first,
    load,
    publish({ config }) {
      if (config.plugins.some(({ name }) => name === broken.plugin)) throw new Error(`${broken.plugin} can't be made`);
    },
    reported: (report) => cluster.report(report),
    clock,
    log: silentLog,
  });
  let requests = 0;
  /** What replicas have; undefined while they have not said it. */
  let targets: readonly string[] | undefined = ["v1", "v2"];
  const setTargets = (names: readonly string[] | undefined) => {
    targets = names;
  };
  cluster.use(running, {
    counts: () => [{ rule: "food/0", target: "v1", requests, errors: 1 }],
    hasTarget: (name) => targets?.includes(name),
  });
  after(() => cluster.stop());
  /** Writes an object into the cluster, and waits until its status is written. */
  const put = async (path: string, name: string, spec: object) => {
    version += 1;
    const others = objects.get(path)!.filter(({ metadata }) => metadata.name !== name);
    const metadata = {
      name,
      uid: name,
      generation: version,
      resourceVersion: String(version),
      creationTimestamp: "2026-01-01T00:00:00Z",
    };
    objects.set(path, [...others, { metadata, spec }]);
    written.length = 0;
    await clock.advance(20_000);
  };
  const conditionOf = (name: string, wanted: string) =>
    written
      .filter(({ path }) => path === name)
      .at(-1)
      ?.status.conditions.find(({ type }) => type === wanted);
  const accepted = (name: string) => conditionOf(name, "Accepted");
  const count = (now: number) => {
    requests = now;
  };
  return { clock, log, running, cluster, written, put, accepted, conditionOf, setTargets, broken, count };
}

const rewrite = (target: string) => ({ poolRef: { name: "llama" }, rules: [{ targets: [{ modelRewrite: target }] }] });

describe("resources of a cluster, as a source of the config", () => {
  it("a rewrite is told which of its targets no replica has, once that has lasted, and when one has it", async () => {
    const { put, conditionOf, setTargets, clock, written } = await setUp();
    const refs = () => conditionOf("food", "ResolvedRefs");
    const two = (other: string, weight: number) => ({
      poolRef: { name: "llama" },
      rules: [
        {
          targets: [
            { modelRewrite: "v1", weight: 1 },
            { modelRewrite: other, weight },
          ],
        },
      ],
    });
    setTargets(undefined);
    await put(REWRITES, "food", two("v9", 1));
    assert.equal(refs()?.status, "True", "nothing is said before replicas have said what they have");
    setTargets(["v1", "v2"]);
    await clock.advance(5_000);
    assert.deepEqual([refs()?.status, refs()?.reason], ["False", "TargetNotFound"]);
    assert.match(refs()?.message ?? "", /No replica of the pool llama has "v9":/);
    assert.equal(conditionOf("food", "Accepted")?.status, "True");
    await put(REWRITES, "food", two("v9", 0));
    assert.equal(refs()?.status, "True", "a target that gets nothing");
    await put(REWRITES, "food", two("v2", 1));
    written.length = 0;
    setTargets(["v1"]);
    await clock.advance(6_000);
    setTargets(["v1", "v2"]);
    await clock.advance(60_000);
    assert.equal(written.length, 0, "a replica that restarts writes nothing");
    setTargets(["v1"]);
    await clock.advance(16_000);
    assert.match(refs()?.message ?? "", /has "v2":/);
    setTargets(["v1", "v2"]);
    await clock.advance(6_000);
    assert.equal(refs()?.status, "True");
  });

  it("a rewrite whose models others take says so in the reason", async () => {
    const { put, accepted } = await setUp();
    const about = (...models: readonly string[]) => ({
      poolRef: { name: "llama" },
      rules: models.map((value) => ({ matches: [{ model: { value } }], targets: [{ modelRewrite: "v1" }] })),
    });
    await put(REWRITES, "a-first", about("m"));
    assert.deepEqual([accepted("a-first")?.status, accepted("a-first")?.reason], ["True", "Accepted"]);
    await put(REWRITES, "b-loses", about("m"));
    assert.deepEqual([accepted("b-loses")?.status, accepted("b-loses")?.reason], ["False", "Conflicted"]);
    assert.match(accepted("b-loses")?.message ?? "", /which the rule a-first\/0 .* takes first/);
    await put(REWRITES, "c-partly", about("m", "n"));
    assert.deepEqual([accepted("c-partly")?.status, accepted("c-partly")?.reason], ["True", "PartlyConflicted"]);
    await put(REWRITES, "a-first", about("other"));
    await put(REWRITES, "b-loses", about("m"));
    assert.deepEqual([accepted("b-loses")?.status, accepted("b-loses")?.reason], ["True", "Accepted"]);
  });

  it("a Router whose plugins can't be made stays out, tells why, and holds up no other resource", async () => {
    const { put, accepted, broken, running } = await setUp();
    broken.plugin = "bad";
    await put(ROUTERS, "main", { plugins: [{ name: "bad", type: "label-selector", parameters: { matchLabels: { a: "b" } } }] });
    assert.deepEqual([accepted("main")?.status, accepted("main")?.reason], ["False", "NotApplied"]);
    assert.match(accepted("main")?.message ?? "", /bad can't be made/);
    await put(REWRITES, "food", rewrite("v1"));
    assert.equal(accepted("food")?.status, "True");
    assert.equal(running.loaded.config.rewrites.length, 1);
    broken.plugin = "";
    await put(ROUTERS, "main", { responseHeaders: false });
    assert.equal(accepted("main")?.status, "True");
    assert.equal(running.loaded.config.settings.hasRoutingHeaders, false);
  });

  it("a Router nested without end is refused as a file is, and holds up no other resource", async () => {
    const { put, accepted } = await setUp();
    // An API server takes as much where a kind leaves its fields open, as parameters of plugins.
    const deep: unknown = JSON.parse(`${"[".repeat(9_000)}${"]".repeat(9_000)}`);
    await put(ROUTERS, "main", { plugins: [{ type: "random", parameters: { deep } }] });
    const { status, reason, message } = accepted("main")!;
    assert.deepEqual([status, reason], ["False", "Invalid"]);
    assert.match(message, /found more than 64 levels of nesting; wanted a flatter document/);
    await put(REWRITES, "food", rewrite("v1"));
    assert.equal(accepted("food")?.status, "True");
  });

  it("tells the Router that it runs with how many requests each target got, twice a minute", async () => {
    const { put, written, clock, count } = await setUp();
    await put(ROUTERS, "main", {});
    count(7);
    written.length = 0;
    await clock.advance(31_000);
    const { targets, reportedBy } = written.at(-1)!.status;
    assert.deepEqual([targets, reportedBy], [[{ rule: "food/0", target: "v1", requests: 7, errors: 1 }], "router-1"]);
  });

  it("logs each rejection once, and shows it", async () => {
    const { put, log, cluster, clock } = await setUp();
    await put(REWRITES, "food", { poolRef: { name: "llama" }, rules: [{ targets: [] }] });
    await clock.advance(60_000);
    const told = log.lines.filter((line) => line.startsWith("error: InferenceModelRewrite llm/food"));
    assert.equal(told.length, 1);
    const view = clusterView(cluster, clock);
    assert.match(
      view.warnings().join("\n"),
      /^InferenceModelRewrite llm\/food can't run, so it is not used: spec\.rules\[0\]\.targets/,
    );
    assert.deepEqual(view.status("food/0"), {});
  });
});
