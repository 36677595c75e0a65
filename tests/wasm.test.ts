import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { bytesFile, compiledText, WAT_MODULES } from "./support/compile-wat.ts";

describe("the committed WebAssembly is compiled from its source", () => {
  for (const module of WAT_MODULES) {
    test(module.source, async () => {
      assert.equal(readFileSync(bytesFile(module), "utf8"), await compiledText(module), "run: npm run wasm");
    });
  }
});
