import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { inspect } from "node:util";
import type { Finding, Path } from "../../../config/read/problems.ts";
import { readSecret, secretReference } from "../../../config/read/secret.ts";
import { secretOf } from "../../../core/contract/secret.ts";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-secret-"));
  const files = {
    plain: "k-1",
    line: "k-2\n",
    windows: "k-3\r\n",
    two: "k-4\n\n",
    empty: "",
    blank: "\n",
    space: "k 5",
    wide: "kéy",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  writeFileSync(join(folder, "long"), "x".repeat(70_000));
  process.env["SIGNALBOX_TEST_KEY"] = "from-env";
  process.env["SIGNALBOX_TEST_EMPTY"] = "";
});
after(() => {
  rmSync(folder, { recursive: true });
  delete process.env["SIGNALBOX_TEST_KEY"];
  delete process.env["SIGNALBOX_TEST_EMPTY"];
});

const PATH: Path = ["spec", "pool", "auth", "bearer"];

async function read(reference: string) {
  const findings: Finding[] = [];
  const report = (path: Path, finding: Finding) => {
    assert.deepEqual(path, PATH);
    findings.push(finding);
  };
  const secret = await readSecret(reference, PATH, { file: join(folder, "signalbox.yaml"), report }, new Set());
  return { value: secret?.reveal(), found: findings.map(({ found }) => found.replace(folder, "")) };
}

describe("readSecret", () => {
  const good: readonly (readonly [reference: string, value: string])[] = [
    ["env:SIGNALBOX_TEST_KEY", "from-env"],
    ["file:plain", "k-1"],
    ["file:./line", "k-2"],
    ["file:windows", "k-3"],
  ];
  for (const [reference, value] of good) {
    test(`reads ${reference}`, async () => {
      assert.deepEqual(await read(reference), { value, found: [] });
    });
  }

  test("reads an absolute path", async () => {
    assert.equal((await read(`file:${join(folder, "plain")}`)).value, "k-1");
  });

  const bad: readonly (readonly [reference: string, found: string])[] = [
    ["env:SIGNALBOX_TEST_NONE", "the environment variable SIGNALBOX_TEST_NONE, which is not set"],
    ["env:SIGNALBOX_TEST_EMPTY", "the environment variable SIGNALBOX_TEST_EMPTY, which is empty"],
    ["file:none", 'no file "/none"'],
    ["file:.", 'the file "", which can\'t be read: it is a folder, not a regular file'],
    ["file:empty", 'the file "/empty", which is empty'],
    ["file:blank", 'the file "/blank", which is empty'],
    ["file:two", 'the file "/two", which holds a space, a line break or a character outside of ASCII'],
    ["file:space", 'the file "/space", which holds a space, a line break or a character outside of ASCII'],
    ["file:wide", 'the file "/wide", which holds a space, a line break or a character outside of ASCII'],
    ["file:long", 'the file "/long", which holds more than 64 KiB'],
  ];
  for (const [reference, found] of bad) {
    test(`reports ${reference}`, async () => {
      assert.deepEqual(await read(reference), { value: undefined, found: [found] });
    });
  }
});

test("a reference says where the secret is, and is not the secret", () => {
  for (const text of ["env:A", "env:_a1", "file:key", "file:/run/secrets/key"])
    assert.ok(secretReference.safeParse(text).success, text);
  for (const text of ["sk-abc", "env:", "env:a b", "env:1A", "file:", "ENV:A", "Bearer env:A"])
    assert.ok(!secretReference.safeParse(text).success, text);
});

test("a secret is not shown by anything that prints", () => {
  const secret = secretOf("sk-hidden", "env:KEY");
  const shown = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect({ secret }, { showHidden: true, depth: 9 }),
    inspect(secret, { customInspect: false, showHidden: true }),
    JSON.stringify(Object.entries(secret)),
  ];
  const { Deno, Bun } = globalThis as { Deno?: { inspect(value: unknown): string }; Bun?: { inspect(value: unknown): string } };
  if (Deno !== undefined) shown.push(Deno.inspect({ secret }));
  if (Bun !== undefined) shown.push(Bun.inspect({ secret }));
  for (const text of shown) assert.doesNotMatch(text, /sk-hidden/);
  assert.equal(JSON.stringify({ secret }), '{"secret":"[secret]"}');
  assert.equal(secret.from, "env:KEY");
  assert.equal(secret.reveal(), "sk-hidden");
});
