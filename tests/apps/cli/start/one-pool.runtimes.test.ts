/** What runs with one pool alone says so in one sentence, which names the fix. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { run, runProcess } from "../../../support/cli.ts";
import { poolDocument } from "../../../support/pools.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-one-pool-"));
after(() => rmSync(folder, { recursive: true }));
const written = (name: string, text: string) => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};
const router = (spec: string) => `apiVersion: signalbox/v1\nkind: Router\nspec:\n  listen: { port: 0 }\n  admin: false\n${spec}`;
const config = written("pools.yaml", router("") + poolDocument("more", ["http://127.0.0.1:9"]));
const shared = '  shared: { secret: "env:PATH", redis: { url: "redis://127.0.0.1:9" } }\n';
const agreeing = written("shared.yaml", router(shared) + poolDocument("more", ["http://127.0.0.1:9"]));
const trace = written("trace.jsonl", '{"timestamp":0,"input_length":10,"output_length":5,"hash_ids":[1]}\n');

describe("a config with Pool documents", () => {
  for (const [name, words, says] of [
    [
      "workers",
      ["start", "--workers", "2", "-f", config],
      /^signalbox: (npx )?signalbox start --workers serves one pool.*leave out the Pool documents\.\n$/,
    ],
    [
      "an endpoint picker",
      ["epp", "--grpc-port", "0", "-f", config],
      /^signalbox: (npx )?signalbox epp serves one pool: leave out the Pool documents.*\.\n$/,
    ],
    [
      "the simulator",
      ["simulate", trace, "-f", config],
      /pools\.yaml: the simulator has one pool; leave out the Pool documents.*\.\n/,
    ],
    [
      "routers that agree",
      ["check", "-f", agreeing],
      /spec\.shared {2}found spec\.shared beside Pool documents; wanted no spec\.shared, or no Pool documents/,
    ],
  ] as const)
    it(`is not for ${name}`, async () => {
      const { code, out, err } = await (words[0] === "start" || words[0] === "epp" ? runProcess : run)(...words);
      assert.equal(code, 1, out + err);
      assert.match(out + err, says);
    });
});
