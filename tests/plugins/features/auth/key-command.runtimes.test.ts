import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { run } from "../../../support/cli.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const CONFIG = `# The router of the shop.
apiVersion: signalbox/v1
kind: Router
spec:
  pool: { endpoints: [ { url: "http://gpu1:8000" } ] }
  auth:
    keys:
      # The shop itself.
      - name: shop
        sha256: ${"a".repeat(64)} # of 2026
        tenant: retail
      - { name: old, sha256: "${"b".repeat(64)}", expires: "2020-01-01", limits: { requestsPerMinute: 60, concurrency: 2 } }
---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: other }
spec: { poolRef: { name: default }, rules: [] }
`;

describe("signalbox key", () => {
  let folder = "";
  before(() => {
    folder = mkdtempSync(join(tmpdir(), "signalbox-key-"));
  });
  after(() => rmSync(folder, { recursive: true }));
  const fileWith = (name: string, text?: string) => {
    if (text !== undefined) writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  it("new shows the key beside its entry, each on its own output", async () => {
    const { code, out, err } = await run(
      "key",
      "new",
      "alice",
      "--tenant",
      "search",
      "--models",
      "a,b",
      "--expires",
      "2999-01-31",
    );
    assert.equal(code, 0);
    const [, made = ""] = /^(sbx-[\w-]{43})$/m.exec(err) ?? [];
    assert.equal(
      out,
      `- name: alice\n  sha256: ${sha256(made)}\n  models:\n    - a\n    - b\n  tenant: search\n  expires: 2999-01-31\n`.replace(
        /sha256: (\d{64})\n/,
        'sha256: "$1"\n',
      ),
    );
    assert.doesNotMatch(out, /sbx-/);
  });

  it("no two keys are alike", async () => {
    const made = await Promise.all(Array.from({ length: 20 }, () => run("key", "new", "a", "--json")));
    assert.equal(new Set(made.map(({ out }) => (JSON.parse(out) as { key: string }).key)).size, 20);
  });

  it("new makes a keys file that only its owner can read, and adds to it", async () => {
    const file = fileWith("keys.yaml");
    const first = await run("key", "new", "alice", "-f", file);
    assert.match(first.out, /^sbx-[\w-]{43}\n$/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    writeFileSync(file, `# Our clients\n${readFileSync(file, "utf8")}`);
    const second = await run("key", "new", "bob", "-f", file, "--tenant", "t");
    assert.equal(
      readFileSync(file, "utf8"),
      `# Our clients\n- name: alice\n  sha256: ${sha256(first.out.trim())}\n- name: bob\n  sha256: ${sha256(second.out.trim())}\n  tenant: t\n`,
    );
    const twin = await run("key", "new", "bob", "-f", file);
    assert.equal(twin.code, 1);
    assert.match(twin.err, /There is a key bob already: revoke it, or take another name/);
    assert.equal(twin.out, "");
  });

  it("list shows all but the digests", async () => {
    const { out } = await run("key", "list", "-f", fileWith("config.yaml", CONFIG));
    assert.deepEqual(out.split("\n"), [
      "NAME  TENANT  MODELS  EXPIRES            LIMITS",
      "shop  retail  all     never              none",
      "old   old     all     2020-01-01 (over)  60 requests/min, 2 at once",
      "",
    ]);
    const { out: json } = await run("key", "list", "--json", "-f", fileWith("config.yaml"));
    assert.deepEqual(
      (JSON.parse(json) as { name: string }[]).map(({ name }) => name),
      ["shop", "old"],
    );
    assert.doesNotMatch(json, /[0-9a-f]{64}/);
  });

  it("revoke takes a key out of a config file, and leaves the rest as it is", async () => {
    const file = fileWith("config.yaml", CONFIG);
    const { code, out } = await run("key", "revoke", "old", "-f", file);
    assert.equal(code, 0);
    assert.match(out, /requests under way finish/);
    assert.equal(readFileSync(file, "utf8"), CONFIG.replace(/ {6}- \{ name: old.*\n/, ""));
    await run("key", "revoke", "shop", "-f", file);
    assert.match((await run("key", "list", "-f", file)).out, /^No keys\.\n$/);
    await run("key", "new", "shop", "-f", file);
    assert.match((await run("key", "list", "-f", file)).out, /^shop /m);
    assert.match(readFileSync(file, "utf8"), /^# The router of the shop\.[\s\S]*name: other \}\n/);
  });

  const wrong: readonly (readonly [argv: readonly string[], message: RegExp])[] = [
    [[], /Say what to do: signalbox key new NAME/],
    [["new"], /Say what to do/],
    [["new", "a", "b"], /Say what to do/],
    [["make", "a"], /Say what to do/],
    [["list"], /Name the file with the keys/],
    [["revoke", "a"], /Name the file with the keys/],
    [["new", "a b"], /The name must be a name of letters, digits/],
    [["new", "a", "--expires", "soon"], /The expires must be a date such as/],
    [["revoke", "a", "-f", "/nowhere/keys.yaml"], /There is no file .*keys\.yaml: name the file that holds the key/],
    [["new", "a", "-f", "/nowhere/keys.yaml"], /can't be written \(ENOENT\): name another file/],
  ];
  for (const [argv, message] of wrong) {
    it(`"key ${argv.join(" ")}" is refused`, async () => {
      const { code, err, out } = await run("key", ...argv);
      assert.notEqual(code, 0);
      assert.match(err, message);
      assert.equal(out, "");
    });
  }

  it("says which key is not there, and what is no list of keys", async () => {
    assert.match((await run("key", "revoke", "eve", "-f", fileWith("config.yaml", CONFIG))).err, /The file has no key eve/);
    assert.match(
      (await run("key", "new", "eve", "-f", fileWith("x.yaml", "a: 1\n"))).err,
      /has no list of keys: write keys: \[\] below/,
    );
    assert.match(
      (await run("key", "list", "-f", fileWith("y.yaml", "- sk-oops\n"))).err,
      /y\.yaml:1:\d+ .*found text; wanted a mapping/,
    );
  });
});
