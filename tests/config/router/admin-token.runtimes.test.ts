import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { loadTexts } from "../../../config/load.ts";
import { formatProblem } from "../../../config/read/problems.ts";
import { effectiveConfig } from "../../../config/show/effective.ts";
import { POOL, registry, router } from "../support.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-secret-"));
const VARIABLES = { SB_TOKEN: "hunter2hunter2", SB_SPACED: "hunter2 hunter2", SB_NONE: "" };
before(() => {
  Object.assign(process.env, VARIABLES);
  writeFileSync(join(folder, "token"), "hunter2-from-file\n");
  writeFileSync(join(folder, "two-lines"), "hunter2\nhunter2\n");
});
after(() => {
  for (const name of Object.keys(VARIABLES)) delete process.env[name];
  rmSync(folder, { recursive: true });
});

const load = (token: string) =>
  loadTexts([{ file: join(folder, "a.yaml"), text: router(`  admin: { token: ${token} }\n${POOL}`) }], registry);

describe("the admin API's token", () => {
  const rows: readonly (readonly [written: string, from: string, text: string])[] = [
    ['"env:SB_TOKEN"', "env:SB_TOKEN", "hunter2hunter2"],
    ['"file:token"', "file:token", "hunter2-from-file"],
    ['"file:./token"', "file:./token", "hunter2-from-file"],
  ];
  for (const [written, from, text] of rows) {
    it(`${written} is read, and shown by its place only`, async () => {
      const loaded = await load(written);
      assert.ok(loaded.problems === undefined);
      const [token] = loaded.config.admin?.tokens ?? [];
      assert.deepEqual([token?.name, token?.role, token?.secret.from, token?.secret.reveal()], ["admin", "change", from, text]);
      assert.deepEqual([...loaded.files], from.startsWith("file:") ? [join(folder, "token")] : []);
      const shown = JSON.stringify([loaded.config, effectiveConfig(loaded, {})]);
      assert.ok(shown.includes(from));
      assert.doesNotMatch(shown, /hunter2/);
    });
  }

  const refusals: readonly (readonly [written: string, problem: RegExp])[] = [
    ["hunter2hunter2", /found text; wanted env:NAME or file:PATH/],
    ["1234567", /found a number/],
    ["{ env: hunter2-hunter2 }", /found a mapping/],
    ['"env:SB_UNSET"', /found the environment variable SB_UNSET, which is not set/],
    ['"env:SB_NONE"', /found the environment variable SB_NONE, which is empty/],
    ['"env:SB_SPACED"', /which holds a space/],
    ['"file:two-lines"', /which holds a space, a line break/],
    ['"file:absent"', /found no file/],
  ];
  for (const [written, problem] of refusals) {
    it(`refuses ${written} at its place, without repeating it`, async () => {
      const { problems = [] } = await load(written);
      const lines = problems.map(formatProblem);
      assert.match(lines[0] ?? "", problem);
      assert.match(lines[0] ?? "", /a\.yaml:4:\d+ {2}spec\.admin\.token/);
      assert.doesNotMatch(lines.join("\n"), /hunter2|1234567/);
    });
  }
});

describe("tokens of several", () => {
  const loadTokens = (tokens: string) =>
    loadTexts([{ file: join(folder, "a.yaml"), text: router(`  admin: { tokens: [${tokens}] }\n${POOL}`) }], registry);

  it("have names and roles", async () => {
    const loaded = await loadTokens(
      '{ name: alice, role: change, token: "env:SB_TOKEN" }, { name: scraper, role: read, token: "file:token" }',
    );
    assert.ok(loaded.problems === undefined);
    const tokens = loaded.config.admin?.tokens.map(({ name, role, secret }) => [name, role, secret.reveal()]);
    assert.deepEqual(tokens, [
      ["alice", "change", "hunter2hunter2"],
      ["scraper", "read", "hunter2-from-file"],
    ]);
    assert.doesNotMatch(JSON.stringify([loaded.config, effectiveConfig(loaded, {})]), /hunter2/);
  });

  const refusals: readonly (readonly [tokens: string, problem: RegExp])[] = [
    ['{ name: a, role: read, token: "env:SB_TOKEN" }, { name: a, role: read, token: "file:token" }', /a second token of "a"/],
    ['{ name: a, role: read, token: "env:SB_TOKEN" }, { name: b, role: read, token: "env:SB_TOKEN" }', /the token of "a"/],
    ["{ name: a, role: read, token: hunter2hunter2 }", /wanted env:NAME or file:PATH/],
    ['{ name: a, role: write, token: "env:SB_TOKEN" }', /wanted "read" or "change"/],
  ];
  for (const [tokens, problem] of refusals)
    it(`refuses ${tokens.replaceAll(/token: /g, "")}`, async () => {
      const { problems = [] } = await loadTokens(tokens);
      const lines = problems.map(formatProblem);
      assert.match(lines[0] ?? "", problem);
      assert.match(lines[0] ?? "", /a\.yaml:4:\d+ {2}spec\.admin\.tokens/);
      assert.doesNotMatch(lines.join("\n"), /hunter2/);
    });
});
