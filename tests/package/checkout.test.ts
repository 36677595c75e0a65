import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type Machine, newFolder, runOn, startOn } from "../support/package/packed.ts";
import { ROOT } from "../support/suite/runtimes.ts";

/** What the README says, for machines that have one runtime and nothing else. */
const COMMANDS: Partial<Record<Machine, readonly [install: string, start: string]>> = {
  deno: ["deno install --prod", "deno task start"],
  bun: ["bun install --production", "bun run start"],
};
const LEFT = new Set(["node_modules", "build", ".git", "tests", "docs"]);
const LOCK = "package-lock.json";

describe("a checkout, with two commands on a machine that has only", () => {
  for (const [machine, [install, start]] of Object.entries(COMMANDS) as [Machine, readonly [string, string]][]) {
    it(`${machine}: ${install}, ${start}`, { timeout: 180_000 }, async () => {
      const folder = newFolder(`checkout-${machine}`);
      for (const name of readdirSync(ROOT))
        if (!LEFT.has(name)) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
      // Its digests are of published packages; those of the tests are packed anew.
      writeFileSync(join(folder, LOCK), readFileSync(join(folder, LOCK), "utf8").replaceAll(/^ *"integrity": .*\n/gm, ""));
      const { code, err } = await runOn(machine, folder, install);
      assert.equal(code, 0, err);
      const router = await startOn(machine, folder, start);
      assert.equal((await fetch(`${router.url}/v1/models`)).status, 200);
      await router.stop();
    });
  }
});
