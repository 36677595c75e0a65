import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { documentText } from "../support/document-blocks.ts";

const packages = join(import.meta.dirname ?? ".", "packages");
const read = (name: string) => readFileSync(join(packages, name), "utf8");

/** Of PyPI, the clients among all that they bring. */
const PYTHON = ["openai", "anthropic", "litellm", "langchain-openai"];
/** What clients need, and nobody asks with. */
const HELPERS = ["node", "zod"];

it("docs/clients.md has the versions that are installed", () => {
  const text = documentText("docs/clients.md");
  const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> };
  const npm = Object.entries(dependencies).filter(([name]) => !HELPERS.includes(name));
  const pypi = PYTHON.map((name) => [name, new RegExp(`^${name}==(.+)$`, "m").exec(read("requirements.txt"))?.[1] ?? ""]);
  for (const [name, version] of [...npm, ...pypi]) assert.ok(version && text.includes(version), `${name} ${version}`);
});

it("the lock file of the clients has the versions of package.json, and no download addresses", () => {
  const lock = JSON.parse(read("package-lock.json")) as { packages: Record<string, { dependencies?: object }> };
  assert.deepEqual(lock.packages[""]?.dependencies, (JSON.parse(read("package.json")) as { dependencies: object }).dependencies);
  assert.doesNotMatch(read("package-lock.json"), /"resolved"|\.tgz/);
});
