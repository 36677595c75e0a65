import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type LoadedConfig, loadTexts, type RefusedConfig } from "../../../config/load.ts";
import type { Overlay } from "../../../config/rewrites/overlay.ts";
import { RunningConfig } from "../../../config/running/running-config.ts";
import { silentLog } from "../../../core/contract/log.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";

const textWith = (names: readonly string[], more = "") =>
  `apiVersion: signalbox/v1
kind: Router
spec:
  pool: { endpoints: [ ${names.map((name) => `{ name: ${name}, url: "http://${name}:8000" }`).join(", ")} ] }
${more}`;

const rewrite = (target: string) => ({
  apiVersion: "llm-d.ai/v1alpha2",
  kind: "InferenceModelRewrite",
  metadata: { name: "food" },
  spec: { poolRef: { name: "default" }, rules: [{ targets: [{ modelRewrite: target }] }] },
});
const NOTE = { by: "127.0.0.1", sinceMs: 0, untilMs: undefined };
const put = (target: string) => (): Overlay => ({
  rewrites: [{ namespace: "default", name: "food", document: rewrite(target), ...NOTE }],
});

/** A running config over a file that is a text of the test; loading takes as long as the test says. */
async function setUp() {
  const clock = new FakeClock();
  const file = { text: textWith(["a"]) };
  const published: LoadedConfig[] = [];
  const logged: string[] = [];
  const reads: string[] = [];
  let fault: Error | undefined;
  let opened = Promise.resolve();
  const load = async (overlay: Overlay, base?: LoadedConfig): Promise<LoadedConfig | RefusedConfig> => {
    if (base === undefined) await opened;
    const from = base?.texts ?? [{ file: "a.yaml", text: file.text }];
    reads.push(base === undefined ? "files" : "texts");
    return loadTexts(from, builtIns, [], overlay);
  };
  const first = await load({ rewrites: [] });
  assert.ok(first.problems === undefined);
  reads.length = 0;
  const running = new RunningConfig({
    loaded: first,
    load,
    publish(next) {
      if (fault !== undefined) throw fault;
      published.push(next);
    },
    clock,
    log: { ...silentLog, error: (message) => void logged.push(message) },
  });
  /** Loading waits until the returned function is called. */
  const hold = () => {
    let open = () => {};
    opened = new Promise((resolve) => {
      open = resolve;
    });
    return open;
  };
  const fail = (error: Error | undefined) => {
    fault = error;
  };
  const names = () => running.loaded.config.pool.endpoints.map(({ name }) => name);
  return { clock, file, published, logged, reads, running, hold, fail, names };
}

describe("a reload", () => {
  it("publishes the next config once, and says what is different", async () => {
    const { file, published, running, names, clock } = await setUp();
    file.text = textWith(["a", "b"]);
    const report = await running.reload("files");
    assert.deepEqual(report, {
      atMs: clock.wall(),
      cause: "files",
      isApplied: true,
      generation: 2,
      problems: [],
      changes: ["endpoint b added"],
    });
    assert.equal(running.lastReload, report);
    assert.equal(published.length, 1);
    assert.equal(published[0], running.loaded);
    assert.deepEqual(names(), ["a", "b"]);
  });

  it("of files in which nothing is different publishes nothing", async () => {
    const { file, published, running } = await setUp();
    file.text = `# A comment moves every line.\n${file.text}`;
    const { isApplied, generation, changes } = await running.reload("signal");
    assert.deepEqual([isApplied, generation, changes, published.length], [true, 1, [], 0]);
  });

  it("is counted by how it ended", async () => {
    const { file, running } = await setUp();
    for (const text of [textWith(["a", "b"]), textWith(["a", "b"]), textWith(["a"], "  limit: {}\n"), textWith(["a"])]) {
      file.text = text;
      await running.reload("files");
    }
    assert.deepEqual(running.reloads, { applied: 2, unchanged: 1, refused: 1 });
  });

  const refused: readonly (readonly [name: string, text: string, problem: RegExp])[] = [
    ["an unknown key", textWith(["a"], "  limit: {}\n"), /^a\.yaml:5:3 {2}spec\.limit {2}found the unknown key/],
    [
      "another port",
      textWith(["a"], "  listen: { port: 1 }\n"),
      /^a\.yaml:5:19 {2}spec\.listen\.port {2}found 1; wanted 8080\..*restart/,
    ],
    ["another admin host", textWith(["a"], "  admin: { host: 0.0.0.0 }\n"), /^a\.yaml:5:18 {2}spec\.admin\.host .*restart/],
    ["no admin port any more", textWith(["a"], "  admin: false\n"), /^a\.yaml:5:10 {2}spec\.admin {2}found false; wanted true\./],
  ];
  for (const [name, text, problem] of refused) {
    it(`with ${name} changes nothing, and says where`, async () => {
      const { file, published, logged, running, names } = await setUp();
      file.text = text;
      const before = running.loaded;
      const { isApplied, generation, problems } = await running.reload("files");
      assert.deepEqual([isApplied, generation, problems.length, published.length], [false, 1, 1, 0]);
      assert.match(problems[0] ?? "", problem);
      assert.deepEqual(logged, ["The config was not replaced: the one before runs on", problems[0]]);
      assert.equal(running.loaded, before);
      assert.deepEqual(names(), ["a"]);
    });
  }

  it("whose plugins can't be built changes nothing, and the way back is open", async () => {
    const { file, running, fail, names } = await setUp();
    file.text = textWith(["b"]);
    fail(new Error("a.yaml:3:1  no disk"));
    assert.deepEqual((await running.reload("api")).problems, ["a.yaml:3:1  no disk"]);
    assert.deepEqual([running.generation, names()], [1, ["a"]]);
    fail(undefined);
    assert.equal((await running.reload("api")).isApplied, true);
    assert.deepEqual([running.generation, names()], [2, ["b"]]);
  });

  it("asked for many times while one is under way is made once more, with the newest files", async () => {
    const { file, published, reads, running, hold, names } = await setUp();
    const open = hold();
    file.text = textWith(["b"]);
    const first = running.reload("files");
    await settle();
    const later = ["files", "signal", "api"].map((cause) => running.reload(cause as "files"));
    file.text = textWith(["c"]);
    const last = running.reload("api");
    open();
    const reports = await Promise.all([first, ...later, last]);
    assert.equal(reads.length, 2);
    assert.equal(new Set(reports).size, 2);
    assert.ok(published.length <= 2);
    assert.deepEqual(names(), ["c"]);
  });

  it("that does not come to an end is given up, and the next one works", async () => {
    const { clock, file, running, hold, names } = await setUp();
    const open = hold();
    const report = running.reload("files");
    await clock.advance(30_000);
    assert.match((await report).problems[0] ?? "", /within 30 s/);
    open();
    file.text = textWith(["b"]);
    assert.equal((await running.reload("files")).isApplied, true);
    assert.deepEqual(names(), ["b"]);
    assert.equal(clock.pending, 0);
  });

  it("that never ends is given up soon where newer files wait, and stops no change beside the files", async () => {
    const { clock, file, running, hold, names } = await setUp();
    const open = hold();
    const stuck = running.reload("files");
    await settle();
    assert.equal((await running.change(put("v1"), "api")).isApplied, true);
    file.text = textWith(["b"]);
    const next = running.reload("files");
    await clock.advance(1_000);
    assert.match((await stuck).problems[0] ?? "", /within 1 s, and newer files wait/);
    open();
    assert.equal((await next).isApplied, true);
    assert.deepEqual([names(), running.overlay.rewrites.length, running.loaded.config.rewrites.length], [["b"], 1, 1]);
    assert.equal(clock.pending, 0);
  });

  it("is made again where a change beside the files ran meanwhile", async () => {
    const { file, running, hold, reads, names } = await setUp();
    const open = hold();
    file.text = textWith(["b"]);
    const report = running.reload("files");
    await settle();
    await running.change(put("v1"), "api");
    open();
    assert.equal((await report).isApplied, true);
    assert.deepEqual(reads, ["texts", "files", "files"]);
    assert.deepEqual([names(), running.loaded.config.rewrites.length, running.generation], [["b"], 1, 3]);
  });

  it("under way while the router begins to stop publishes nothing", async () => {
    const { file, published, running, hold } = await setUp();
    const open = hold();
    file.text = textWith(["b"]);
    const report = running.reload("files");
    running.close();
    open();
    assert.match((await report).problems[0] ?? "", /stopping/);
    assert.equal(published.length, 0);
  });
});

describe("a change beside the files", () => {
  const targets = (running: RunningConfig) =>
    running.loaded.config.rewrites.flatMap((rule) => rule.targets.map(({ name }) => name));

  it("is part of what runs, and of what every later reload brings", async () => {
    const { file, running, names } = await setUp();
    assert.deepEqual((await running.change(put("v1"), "api")).changes, ["plugin model-rewrite added", "rewrite food/0 added"]);
    file.text = textWith(["b"]);
    await running.reload("files");
    assert.deepEqual([names(), targets(running), running.generation], [["b"], ["v1"], 3]);
  });

  it("that is refused leaves the overlay as it was", async () => {
    const { running } = await setUp();
    await running.change(put("v1"), "api");
    const before = running.overlay;
    const { problems } = await running.change(put(""), "api");
    assert.match(problems[0] ?? "", /^admin API, InferenceModelRewrite "food" {2}spec\.rules\[0\]\.targets\[0\]\.modelRewrite/);
    const thrown = await running.change(() => {
      throw new Error("There is no rewrite with this name");
    }, "api");
    assert.deepEqual(thrown.problems, ["There is no rewrite with this name"]);
    assert.equal(running.overlay, before);
    assert.deepEqual(targets(running), ["v1"]);
  });

  it("works while the files are broken: it is made over the texts that run", async () => {
    const { file, reads, running } = await setUp();
    file.text = "{";
    assert.equal((await running.reload("files")).isApplied, false);
    assert.equal((await running.change(put("v2"), "api")).isApplied, true);
    assert.deepEqual([targets(running), reads], [["v2"], ["files", "texts"]]);
  });

  it("each gets the overlay that the one before left", async () => {
    const { running } = await setUp();
    const add = (name: string) => (overlay: Overlay) => ({
      rewrites: [
        ...overlay.rewrites,
        { namespace: "default", name, document: { ...rewrite("v1"), metadata: { name } }, ...NOTE },
      ],
    });
    await Promise.all(["one", "two", "three"].map((name) => running.change(add(name), "api")));
    assert.deepEqual(
      running.loaded.config.rewrites.map(({ name }) => name),
      ["one/0", "two/0", "three/0"],
    );
  });

  it("that was made for what the files say is dropped once they say something else", async () => {
    const { file, running } = await setUp();
    const inFile = (target: string) => `${textWith(["a"])}---\n${JSON.stringify(rewrite(target))}\n`;
    file.text = inFile("v1");
    await running.reload("files");
    const change = { namespace: "default", name: "food", document: rewrite("v2"), ...NOTE, madeFor: rewrite("v1") };
    await running.change(() => ({ rewrites: [change] }), "guard");
    file.text = `# Only a comment.\n${inFile("v1")}`;
    await running.reload("files");
    assert.deepEqual([targets(running), running.overlay.rewrites], [["v2"], [change]]);
    file.text = inFile("v3");
    await running.reload("files");
    assert.deepEqual([targets(running), running.overlay.rewrites], [["v3"], []]);
    file.text = inFile("v1");
    await running.reload("files");
    assert.deepEqual(targets(running), ["v1"], "it does not come back");
  });
});
