import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { loadConfig } from "../../../config/load.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { policyOf } from "./policy-config.ts";

const examples = join(import.meta.dirname ?? ".", "..", "..", "..", "examples");
const URLS = ["http://127.0.0.1:1001", "http://127.0.0.1:1002", "http://127.0.0.1:1003"];

describe("a policy's config for a live run", () => {
  for (const name of ["quickstart", "policies/sglang-cache-aware", "policies/llm-d-default"]) {
    it(`${name} loads from another folder, with the run's replicas in place of its own`, async () => {
      const folder = mkdtempSync(join(tmpdir(), "signalbox-test-"));
      try {
        const original = await loadConfig([join(examples, `${name}.yaml`)], builtIns);
        const copy = await loadConfig([policyOf(join(examples, `${name}.yaml`), folder, URLS).file], builtIns);
        assert.ok(original.problems === undefined && copy.problems === undefined);
        assert.deepEqual(
          copy.config.pool.endpoints.map(({ url }) => url),
          URLS,
        );
        assert.deepEqual(copy.config.profile, original.config.profile);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  }
});
