/** `spec.auth`: what it accepts, what it refuses, and what people see of it. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { loadTexts } from "../../../config/load.ts";
import { formatProblem } from "../../../config/read/problems.ts";
import { changesBetween } from "../../../config/show/changes.ts";
import { effectiveConfig } from "../../../config/show/effective.ts";
import { loaded, POOL, problemsOf, registry, router } from "../support.ts";

const DIGEST = "0123456789abcdef".repeat(4);
const OTHER = "fedcba9876543210".repeat(4);
const auth = (text: string) => router(`${POOL}  auth: ${text}\n`);

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-auth-"));
});
after(() => rmSync(folder, { recursive: true }));

describe("spec.auth refuses", () => {
  const rows: readonly (readonly [name: string, text: string, problem: RegExp])[] = [
    ["a section without any way in", "{}", /spec\.auth {2}found no way to show who asks; wanted keys, keysFile, or a plugin/],
    [
      "a digest that is none, without showing it",
      "{ keys: [{ name: a, sha256: sk-oops }] }",
      /keys\[0\]\.sha256 {2}found text; wanted the key's SHA-256 in 64 hex digits, as signalbox key new prints it/,
    ],
    [
      "the key itself, without showing it",
      `{ keys: [{ name: a, sha256: ${DIGEST}, key: sk-oops }] }`,
      /found the unknown key "key"; wanted one of: name, sha256, models, tenant, priority, expires, limits/,
    ],
    [
      "a name twice",
      `{ keys: [{ name: a, sha256: ${DIGEST} }, { name: a, sha256: ${OTHER} }] }`,
      /^5:\d+ {2}spec\.auth\.keys\[1\]\.name {2}found the key name "a" a second time; wanted a name of its own for each key/,
    ],
    [
      "a digest twice",
      `{ keys: [{ name: a, sha256: ${DIGEST} }, { name: b, sha256: ${DIGEST.toUpperCase()} }] }`,
      /spec\.auth\.keys\[1\]\.sha256 {2}found the digest of the key "a" a second time/,
    ],
    ["a name that is no label", `{ keys: [{ name: "a b", sha256: ${DIGEST} }] }`, /keys\[0\]\.name .*wanted a name of letters/],
    ["no date", `{ keys: [{ name: a, sha256: ${DIGEST}, expires: soon }] }`, /expires .*wanted a date such as 2027-01-31/],
    ["a day that there is not", `{ keys: [{ name: a, sha256: ${DIGEST}, expires: 2027-13-31 }] }`, /wanted a date such as/],
    ["a time without a zone", `{ keys: [{ name: a, sha256: ${DIGEST}, expires: 2027-01-31T12:00:00 }] }`, /wanted a date/],
    ["no models", `{ keys: [{ name: a, sha256: ${DIGEST}, models: [] }] }`, /wanted at least one model, or no models at all/],
    ["a limit of 0", `{ keys: [{ name: a, sha256: ${DIGEST}, limits: { concurrency: 0 } }] }`, /wanted a whole number from 1/],
    ["a mistyped limit", `{ keys: [{ name: a, sha256: ${DIGEST}, limits: { rpm: 1 } }] }`, /the unknown key "rpm"/],
    ["a file that is not there", "{ keysFile: nowhere.yaml }", /spec\.auth\.keysFile {2}found no file ".*nowhere\.yaml"/],
  ];
  for (const [name, text, problem] of rows) {
    it(name, async () => {
      const problems = await problemsOf(auth(text));
      assert.ok(
        problems.some((line) => problem.test(line)),
        problems.join("\n"),
      );
      assert.doesNotMatch(problems.join("\n"), /sk-oops/);
    });
  }

  it("the plugin of the section, listed by hand", async () => {
    const problems = await problemsOf(router(`${POOL}  plugins: [{ type: keys, parameters: {} }]\n`));
    assert.match(problems.join("\n"), /"keys", which runs by itself; wanted spec\.auth\.keys instead/);
  });
});

describe("a keys file", () => {
  const write = (text: string) => {
    const file = join(folder, "keys.yaml");
    writeFileSync(file, text);
    return file;
  };
  const list = (names: readonly string[]) =>
    `# Clients\n---\n${names.map((name, index) => `- name: ${name}\n  sha256: "${index.toString(16).padStart(64, "0")}"\n`).join("")}`;
  const load = (file: string) =>
    loadTexts([{ file: join(folder, "config.yaml"), text: auth(`{ keysFile: ${file} }`) }], registry);

  it("holds thousands, and is one of the files that the config depends on", async () => {
    const file = write(list(Array.from({ length: 2_500 }, (_, index) => `team-${index}`)));
    const config = await load("keys.yaml");
    assert.deepEqual(config.problems, undefined);
    assert.deepEqual([...config.files], [file]);
    const { parameters } = config.config!.plugins.find(({ type }) => type === "keys")!;
    assert.equal((parameters as { keys: unknown[] }).keys.length, 2_500);
  });

  it("says where it is wrong, far behind its beginning too", async () => {
    const names = Array.from({ length: 450 }, (_, index) => `team-${index}`);
    const file = write(
      `${list(names).replace("name: team-301\n", "name: team-301\n  tennant: x\n")}- name: team-5\n  sha256: "${DIGEST}"\n`,
    );
    const lines = (await load(file)).problems!.map(formatProblem);
    assert.equal(lines.length, 2);
    assert.match(
      lines[0]!,
      new RegExp(`^${file}:606:3 .*found the unknown key "tennant"; wanted one of: .*Did you mean "tenant"`),
    );
    assert.match(lines[1]!, new RegExp(`^${file}:904:\\d+ .*found the key name "team-5" a second time`));
  });

  it("may be JSON, or empty", async () => {
    assert.equal((await load(write(`[\n{"name": "a", "sha256": "${DIGEST}"}\n]\n`))).problems, undefined);
    assert.equal((await load(write("[]\n"))).problems, undefined);
    assert.equal((await load(write("# none left\n"))).problems, undefined);
  });

  it("is refused where it is no list of keys, without showing what is in it", async () => {
    for (const text of ["keys: sk-oops\n", "sk-oops\n", "- sk-oops\n", "- sha256: sk-oops\n  name: a\n", "- {\n", "- a: *x\n"]) {
      const lines = (await load(write(text))).problems?.map(formatProblem) ?? [];
      assert.notEqual(lines.length, 0, text);
      assert.match(lines[0]!, /keys\.yaml:\d+:\d+/);
      if (!text.startsWith("keys:")) assert.doesNotMatch(lines.join("\n"), /sk-oops/);
    }
  });
});

describe("what people see of keys", () => {
  const KEYS = auth(`{ keys: [{ name: a, sha256: ${DIGEST}, tenant: t }] }`);

  it("are names, never digests", async () => {
    const { router: shown } = effectiveConfig(await loaded(KEYS), {});
    assert.deepEqual(shown.spec["auth"], {
      keys: [{ name: "a", tenant: "t", sha256: "(hidden)" }],
      saltByTenant: false,
    });
    assert.doesNotMatch(JSON.stringify(shown), new RegExp(DIGEST));
    assert.equal((shown.spec["pool"] as { forwardCredentials: boolean }).forwardCredentials, false);
  });

  it("are the keys that a reload changes", async () => {
    const [none, one] = await Promise.all([loaded(router(POOL)), loaded(KEYS)]);
    assert.deepEqual(changesBetween(one, await loaded(KEYS)), []);
    assert.ok(changesBetween(none, one).includes("key a added"));
    const changed = changesBetween(one, await loaded(KEYS.replace(DIGEST, OTHER)));
    assert.deepEqual(changed, ["key a changed"]);
  });
});
