import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadTexts } from "../../../config/load.ts";
import { formatProblems } from "../../../config/read/problems.ts";
import { obstacleToSharedPorts } from "../../../core/runtime/shared-port.ts";
import { builtIns } from "../../../plugins/registry.ts";

const runtimes: readonly (readonly [platform: string, versions: Record<string, string>, says: RegExp])[] = [
  ["linux", { node: "20.20.2" }, /^Node 20\.20\.2 can't share a port$/],
  ["linux", { node: "22.11.0" }, /can't share/],
  ["linux", { node: "22.12.0" }, /^$/],
  ["linux", { node: "24.1.0" }, /^$/],
  ["linux", { node: "20.0.0", deno: "2.9.6" }, /^$/],
  ["linux", { node: "20.0.0", bun: "1.4.5" }, /^$/],
  ["darwin", { node: "24.1.0" }, /darwin/],
];

describe("whether processes can share a port", () => {
  for (const [platform, versions, says] of runtimes) {
    it(`${platform} ${JSON.stringify(versions)}: ${says.source === "^$" ? "yes" : "no"}`, () => {
      assert.match(obstacleToSharedPorts(platform, versions), says);
    });
  }

  it("a config that asks for it is refused where it can't be, with position and fix", async () => {
    const text = `apiVersion: signalbox/v1
kind: Router
spec:
  listen: { reusePort: true }
  admin:
    reusePort: true
  pool: { endpoints: [ { url: "http://gpu1:8000" } ] }
`;
    const loaded = await loadTexts([{ file: "a.yaml", text }], builtIns);
    if (obstacleToSharedPorts() === "") {
      assert.equal(loaded.problems, undefined);
      assert.ok(loaded.config?.listen.isPortShared && loaded.config.admin?.isPortShared);
      return;
    }
    const said = formatProblems(loaded.problems ?? []);
    assert.match(said, /a\.yaml:4:\d+ .*reusePort: true, but Node .* can't share a port.*Node 22\.12 or newer, Deno or Bun/s);
    assert.match(said, /a\.yaml:6:/);
  });
});
