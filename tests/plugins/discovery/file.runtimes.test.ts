import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { EndpointSpec } from "../../../core/contract/endpoint.ts";
import { makeHost } from "../../../core/contract/test-kit.ts";
import file from "../../../plugins/discovery/file.ts";
import { collectedLog } from "../../support/collected-log.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";
import { waitUntil } from "../../support/router.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-file-"));
after(() => rmSync(folder, { recursive: true }));

const GPU1 = { url: "http://gpu1:8000", labels: { gpu: "h100" } };
const GPU2 = { url: "https://gpu2/base/v1/", name: "second" };

let files = 0;

/** A discovery over a file of its own, which is read again whenever `look` is called. */
function setUp(content: unknown) {
  files += 1;
  const name = `endpoints-${files}.json`;
  const path = join(folder, name);
  const write = (next: unknown) => writeFileSync(path, typeof next === "string" ? next : JSON.stringify(next));
  if (content !== undefined) write(content);
  const clock = new FakeClock();
  const log = collectedLog();
  const stopping = new AbortController();
  const found: (readonly EndpointSpec[])[] = [];
  const plugin = createPlugin(file, { path: name }, makeHost({ clock, log, folder, signal: stopping.signal }));
  const look = async () => {
    await clock.advance(1_000);
    // The file is read in the background; when that is done, the next look is planned.
    await waitUntil(() => clock.pending === 1);
  };
  return { path, write, clock, log, found, plugin, look, stopping, start: () => plugin.start((specs) => found.push(specs)) };
}

const names = (specs: readonly EndpointSpec[] | undefined) => specs?.map(({ name }) => name);

describe("the file discovery", () => {
  it("finds at once what the file lists, with names and labels", () => {
    const { start, found, plugin } = setUp([GPU1, GPU2]);
    start();
    plugin.dispose?.();
    assert.deepEqual(found, [
      [
        { name: "gpu1-8000", ...GPU1 },
        { ...GPU2, labels: {} },
      ],
    ]);
  });

  it("finds an endpoint at each port of an address", () => {
    const { start, found, plugin } = setUp([
      { url: "http://gpu1", ports: [8000, 8001], labels: { gpu: "h100" } },
      { url: "http://[::1]/base", name: "six", ports: [9000] },
    ]);
    start();
    plugin.dispose?.();
    assert.deepEqual(found, [
      [
        { name: "gpu1-rank-0", url: "http://gpu1:8000", labels: { gpu: "h100" } },
        { name: "gpu1-rank-1", url: "http://gpu1:8001", labels: { gpu: "h100" } },
        { name: "six-rank-0", url: "http://[::1]:9000/base", labels: {} },
      ],
    ]);
    const twice = setUp([{ url: "http://gpu1:80", ports: [8000] }]);
    assert.throws(twice.start, /Beside ports, leave out the port/);
  });

  it("names an address without a name after host, port and path", () => {
    const { start, found, plugin } = setUp([{ url: "https://gpu2/base/v1/" }, { url: "http://[::1]:80" }]);
    start();
    plugin.dispose?.();
    assert.deepEqual(names(found[0]), ["gpu2-443-base", "1-80"]);
  });

  it("finds what changes, by writing and by renaming, and says nothing when nothing changes", async () => {
    const { start, found, write, look, path, plugin } = setUp([GPU1]);
    start();
    await look();
    write([GPU1, GPU2]);
    await look();
    await look();
    writeFileSync(`${path}.new`, JSON.stringify([GPU2]));
    renameSync(`${path}.new`, path);
    await look();
    write([]);
    await look();
    plugin.dispose?.();
    assert.deepEqual(found.map(names), [["gpu1-8000"], ["gpu1-8000", "second"], ["second"], []]);
  });

  const faults: readonly (readonly [what: string, content: string, says: RegExp])[] = [
    ["half a list", '[{"url":"http://gpu1:80', /It is not JSON/],
    ["another shape", '{"endpoints":[]}', /the list: .*\. Write \[/],
    ["an address without a scheme", '[{"url":"gpu1:8000"}]', /0\.url: /],
    ["a key that does not exist", '[{"url":"http://gpu1:8000","lables":{}}]', /lables/],
    ["a name twice", '[{"url":"http://a:1","name":"x"},{"url":"http://b:1","name":"x"}]', /Two endpoints have the name "x"/],
    ["too much", `["${"x".repeat(4 * 1024 * 1024)}"]`, /it has more than 4194304 bytes/],
  ];
  for (const [what, content, says] of faults) {
    it(`refuses to start with ${what}, and says why`, () => {
      const { start } = setUp(content);
      assert.throws(start, (error: Error) => says.test(error.message) && /endpoints-\d+\.json can't be used/.test(error.message));
    });

    it(`keeps the last list over ${what}, warns once, and takes the next one`, async () => {
      const { start, found, write, look, log, plugin } = setUp([GPU1]);
      start();
      write(content);
      await look();
      assert.deepEqual(log.lines, [], "a writer may be in the middle");
      for (let i = 0; i < 3; i++) await look();
      assert.equal(log.lines.length, 1);
      assert.match(log.lines[0]!, /^warning: The endpoints file can't be used; the last list stays/);
      assert.match(plugin.trouble?.text ?? "", /^The endpoints file .+ can't be used: ./);
      write([GPU2]);
      await look();
      assert.equal(plugin.trouble, undefined);
      plugin.dispose?.();
      assert.deepEqual(found.map(names), [["gpu1-8000"], ["second"]]);
    });
  }

  it("refuses to start without its file", () => {
    assert.throws(setUp(undefined).start, /endpoints-\d+\.json can't be used: .*ENOENT|No such file/);
  });

  it("refuses to start with a folder, or a pipe, which would block", () => {
    const pipe = join(folder, "pipe");
    execFileSync("/bin/sh", ["-c", 'mkfifo "$0"', pipe]);
    for (const path of [folder, pipe]) {
      const plugin = createPlugin(file, { path }, makeHost({ folder }));
      assert.throws(() => plugin.start(() => {}), /can't be used: it is a (?:folder|named pipe), not a regular file/);
    }
  });

  it("keeps the last list while its file is away", async () => {
    const { start, found, look, log, path, plugin } = setUp([GPU1]);
    start();
    rmSync(path);
    for (let i = 0; i < 3; i++) await look();
    plugin.dispose?.();
    assert.equal(found.length, 1);
    assert.equal(log.lines.length, 1);
  });

  it("keeps the last list over a reload of the config while its file is broken, and reads on", async () => {
    const { write, path } = setUp([GPU1]);
    const kept = { path: "", text: "" };
    const clock = new FakeClock();
    const keep = <State>() => kept as State;
    const startAt = (at: string) => {
      const found: (readonly EndpointSpec[])[] = [];
      const plugin = createPlugin(file, { path: at }, { ...makeHost({ clock, folder }), keep });
      plugin.start((specs) => found.push(specs));
      return { found, plugin };
    };
    startAt(path).plugin.dispose?.();
    write("[");
    const { found, plugin } = startAt(path);
    assert.deepEqual(found.map(names), [["gpu1-8000"]]);
    assert.throws(() => startAt(`${path}.other`), /can't be used/, "another file has no last list");
    write([GPU2]);
    await clock.advance(1_000);
    await waitUntil(() => found.length === 2);
    assert.deepEqual(names(found[1]), ["second"]);
    plugin.dispose?.();
  });

  it("reads no more once it is stopped", async () => {
    const { start, found, write, clock, stopping, plugin } = setUp([GPU1]);
    start();
    stopping.abort();
    plugin.dispose?.();
    write([GPU2]);
    await clock.advance(5_000);
    assert.equal(found.length, 1);
    assert.equal(clock.pending, 0);
  });

  it("wants a path and a sensible period", () => {
    assert.ok(issuesOf(file, {}).length > 0);
    assert.ok(issuesOf(file, { path: "a", periodSeconds: 0 }).length > 0);
    assert.deepEqual(issuesOf(file, { path: "a", periodSeconds: 0.5 }), []);
  });
});
