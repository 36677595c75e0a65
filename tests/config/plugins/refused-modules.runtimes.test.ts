import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { loadPluginModule } from "../../../config/plugins/load-plugin.ts";

const root = mkdtempSync(join(tmpdir(), "signalbox-refused-"));
after(() => rmSync(root, { recursive: true }));

/** What beginners write, and what the message must tell them. */
const cases: readonly (readonly [name: string, source: string, message: RegExp])[] = [
  [
    "a name that is mistyped",
    'import { defineScorre } from "signalbox/plugin";\nexport default defineScorre({});',
    / Did you mean "defineScorer"\?$/,
  ],
  ["the router instead of the contracts", 'import { defineScorer } from "signalbox";\n', /Plugins import "signalbox\/plugin"\.$/],
  ["the schema library", 'import { z } from "zod-not-here";\n', /Install zod-not-here beside the plugin\.$/],
  [
    "a property of every object",
    "Object.prototype.mine = 1;\nArray.prototype.last = 1;\nexport default {};",
    /changes the whole program: it sets Object\.prototype\.mine, Array\.prototype\.last\./,
  ],
];

describe("a module is refused with what to write instead, for", () => {
  for (const [name, source, message] of cases)
    it(name, async () => {
      const file = `${name.replaceAll(" ", "-")}.mjs`;
      writeFileSync(join(root, file), source);
      await assert.rejects(loadPluginModule(`./${file}`, root), (error: Error) => {
        assert.match(error.message, message);
        return true;
      });
      assert.deepEqual([Object.keys(Object.prototype), Object.keys(Array.prototype)], [[], []]);
    });

  it("waiting without end at its top level", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    writeFileSync(join(root, "waits.mjs"), "const a = 1;\nawait new Promise(() => {});\nexport default a;\n");
    const loading = assert.rejects(
      loadPluginModule("./waits.mjs", root),
      /not finished loading after 10 s, at \S+waits\.mjs:2: /,
    );
    t.mock.timers.tick(10_000);
    // Deno leaves them to the files that come later.
    t.mock.timers.reset();
    await loading;
  });
});
