import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, describe, it } from "node:test";
import { runGroup } from "./run-group.ts";
import { ROOT, runtimes } from "./runtimes.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-groups-"));
after(() => rmSync(folder, { recursive: true }));

const TEST = 'import { it } from "node:test";\n';
/** What a test does that ends well, and what is said of it. */
const ROWS: readonly (readonly [what: string, text: string, said: RegExp | undefined])[] = [
  ["nothing", "", undefined],
  [
    "a file",
    'import { tmpdir } from "node:os"; import { writeFileSync } from "node:fs"; writeFileSync(tmpdir() + "/forgotten", "");',
    /^LEFT BEHIND: \S+ left in its temporary folder: forgotten$/m,
  ],
  [
    "a process",
    'import { spawn } from "node:child_process"; spawn("sleep", ["60"], { stdio: "ignore", detached: true }).unref();',
    /^LEFT BEHIND: \S+ left a process behind: \S*sleep 60/m,
  ],
];

describe("a group of test files", () => {
  const [node, ...others] = runtimes();
  for (const runtime of [node!, ...others.filter(({ name }) => !name.startsWith("node"))])
    for (const [what, text, said] of ROWS)
      it(`says that ${what} was left behind: ${runtime.name}`, async () => {
        const file = join(folder, `${what.replace(" ", "-")}.mjs`);
        writeFileSync(file, `${TEST}${text}\nit("passes", () => {});\n`);
        const { isGood, output, failed } = await runGroup(runtime, [relative(ROOT, file)], false);
        const isFault = what === "a process";
        assert.equal(isGood, !isFault, output);
        assert.equal(failed, isFault ? 1 : 0);
        if (said !== undefined) assert.match(output, said);
      });

  it("says what keeps its process from ending: Node alone waits", { timeout: 60_000 }, async () => {
    const file = join(folder, "timer.mjs");
    writeFileSync(file, `${TEST}setInterval(() => {}, 1000);\nit("passes", () => {});\n`);
    process.env["SIGNALBOX_TEST_END_SECONDS"] = "2";
    const { isGood, output } = await runGroup(node!, [relative(ROOT, file)], false);
    delete process.env["SIGNALBOX_TEST_END_SECONDS"];
    assert.equal(isGood, false);
    assert.match(output, /The tests have ended, but their process does not: .*Timeout/);
  });
});
