import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { PICTURES } from "./pictures.ts";

for (const [name, make] of PICTURES)
  it(`the pictures of docs/${name} are as the code draws them: npm run pictures`, { timeout: 300_000 }, async () => {
    const text = readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");
    assert.equal(text, await make(text));
  });
