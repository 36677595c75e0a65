import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Usage } from "../../../core/contract/outcome.ts";
import type { CountedPart, PartKind } from "../../../core/contract/prompt-part.ts";
import { PartScale, tokensOf } from "../../../core/state/part-scale.ts";
import { TokenScale } from "../../../core/state/token-scale.ts";
import { makeRequest } from "../../support/endpoints.ts";

const KIB = (1024 * 4) / 3;

function partsOf(scale: PartScale, kinds: readonly PartKind[], bytes = 100 * KIB, isInline = true): readonly CountedPart[] {
  return scale.counted(
    "m",
    kinds.map((kind) => ({ kind, span: [0, bytes], isInline })),
  );
}

const imageTokens = (scale: PartScale) => tokensOf(partsOf(scale, ["image"]));

describe("before the first report", () => {
  const cases: readonly [kind: PartKind, isInline: boolean, tokens: number][] = [
    ["image", true, 1_000],
    ["image", false, 1_000],
    ["audio", true, 100],
    ["audio", false, 512],
    ["video", true, 150],
    ["file", true, 3_200],
    ["file", false, 16_384],
  ];
  for (const [kind, isInline, tokens] of cases) {
    test(`${kind} ${isInline ? "of 100 KiB" : "elsewhere"}: ${tokens} tokens`, () => {
      assert.equal(tokensOf(partsOf(new PartScale(), [kind], 100 * KIB, isInline)), tokens);
    });
  }

  test("an image's bytes do not count", () => {
    const tokens = [1, 1e3, 1e7].map((bytes) => tokensOf(partsOf(new PartScale(), ["image"], bytes)));
    assert.deepEqual(tokens, [1_000, 1_000, 1_000]);
  });

  test("what a few bytes name counts no more than a long prompt", () => {
    const kinds = new Array<PartKind>(500).fill("file");
    assert.equal(tokensOf(partsOf(new PartScale(), kinds, 20, false)), 262_144);
  });

  test("no parts make no list", () => {
    const scale = new PartScale();
    assert.equal(scale.counted("m", []), scale.counted("other", []));
  });
});

describe("what replicas report", () => {
  test("is what an image counts, for that target only", () => {
    const scale = new PartScale();
    for (let n = 0; n < 100; n++) scale.learnBeside("m", partsOf(scale, ["image", "image"]), 300, 300 + 2 * 576);
    assert.ok(Math.abs(imageTokens(scale) - 576) < 10, String(imageTokens(scale)));
    assert.equal(tokensOf(scale.counted("other", partsOf(scale, ["image"]))), 1_000);
    assert.deepEqual(Object.keys(scale.perUnit()), ["m"]);
  });

  test("is learned also after a client has invented many targets", () => {
    const scale = new PartScale();
    for (let n = 0; n < 3_000; n++) scale.learnBeside(`invented-${n}`, partsOf(scale, ["image"]), 0, 1_000);
    for (let n = 0; n < 100; n++) scale.learnBeside("m", partsOf(scale, ["image"]), 0, 64);
    assert.ok(imageTokens(scale) < 100, String(imageTokens(scale)));
    assert.equal(Object.keys(scale.perUnit()).length, 1_024);
  });

  test("stays while other targets are invented, as long as replicas report it", () => {
    const scale = new PartScale();
    for (let n = 0; n < 100; n++) scale.learnBeside("m", partsOf(scale, ["image"]), 0, 64);
    for (let n = 0; n < 3_000; n++) {
      scale.learnBeside(`invented-${n}`, partsOf(scale, ["image"]), 0, 1_000);
      if (n % 500 === 0) scale.learnBeside("m", partsOf(scale, ["image"]), 0, 64);
    }
    assert.ok(imageTokens(scale) < 100, String(imageTokens(scale)));
  });

  test("goes over to another process", () => {
    const scale = new PartScale();
    for (let n = 0; n < 10; n++) scale.learnBeside("m", partsOf(scale, ["image"]), 0, 2_000);
    assert.equal(imageTokens(new PartScale(scale.perUnit())), imageTokens(scale));
  });

  test("counts audio by its length", () => {
    const scale = new PartScale();
    for (let n = 0; n < 100; n++) scale.learnBeside("m", partsOf(scale, ["audio"], 1_000 * KIB), 10, 3_010);
    assert.ok(Math.abs(tokensOf(partsOf(scale, ["audio"], 10 * KIB)) - 30) <= 1);
  });

  test("follows other images within a few hundred", () => {
    const scale = new PartScale();
    for (let n = 0; n < 300; n++) scale.learnBeside("m", partsOf(scale, ["image"]), 0, 4_000);
    for (let n = 0; n < 3_000; n++) scale.learnBeside("m", partsOf(scale, ["image"]), 0, 500);
    assert.ok(Math.abs(imageTokens(scale) - 500) < 50, String(imageTokens(scale)));
  });

  const nothing: readonly [name: string, kinds: readonly PartKind[], isInline: boolean, text: number, reported: number][] = [
    ["several kinds", ["image", "audio"], true, 0, 5_000],
    ["mostly text", ["image"], true, 4_001, 9_000],
    ["an unknown length", ["image"], true, 0, Number.NaN],
    ["audio elsewhere", ["audio"], false, 0, 5_000],
  ];
  for (const [name, kinds, isInline, text, reported] of nothing) {
    test(`teaches nothing: ${name}`, () => {
      const scale = new PartScale();
      scale.learnBeside("m", partsOf(scale, kinds, 100 * KIB, isInline), text, reported);
      assert.deepEqual(scale.perUnit(), {});
    });
  }

  test("leads back from images that were nearly nothing", () => {
    const scale = new PartScale();
    for (let n = 0; n < 2_000; n++) scale.learnBeside("m", partsOf(scale, ["image"]), 10, 14);
    assert.ok(imageTokens(scale) < 10);
    for (let n = 0; n < 2_000; n++) scale.learnBeside("m", partsOf(scale, ["image"]), 500, 1_800);
    assert.ok(Math.abs(imageTokens(scale) - 1_300) < 20, String(imageTokens(scale)));
  });

  test("is right in the mean where the text is not known well", () => {
    const scale = new PartScale();
    for (let n = 0; n < 2_000; n++) scale.learnBeside("m", partsOf(scale, ["image"]), 2_000, 2_000 + (n % 2 === 0 ? 400 : -200));
    assert.ok(Math.abs(imageTokens(scale) - 100) < 15, String(imageTokens(scale)));
  });

  test("can't be any number", () => {
    const scale = new PartScale();
    for (let n = 0; n < 50; n++) scale.learnBeside("m", partsOf(scale, ["image"]), 0, 1e12);
    assert.ok(imageTokens(scale) <= 16_000);
    for (let n = 0; n < 50_000; n++) scale.learnBeside("m", partsOf(scale, ["image"]), 1_000, 0);
    assert.ok(imageTokens(scale) >= 0);
  });

  test("is kept for so many targets", () => {
    const scale = new PartScale();
    for (let n = 0; n < 3_000; n++) scale.learnBeside(`m${n}`, partsOf(scale, ["image"]), 0, 2_000);
    assert.equal(Object.keys(scale.perUnit()).length, 1_024);
  });
});

/** What a replica reports. */
const usageOf = (promptTokens: number): Usage => ({ promptTokens, outputTokens: 0 });

test("text is learnt from text alone, and parts from what is left", () => {
  const scale = new TokenScale();
  const prompt = (promptParts: readonly CountedPart[]) => makeRequest({ api: "a", target: "m", parsedTokens: 500, promptParts });
  for (let n = 0; n < 200; n++) {
    scale.reported(prompt([]), usageOf(1_000));
    scale.reported(prompt(partsOf(scale.parts, ["image"])), usageOf(1_000 + 1_500));
  }
  assert.ok(Math.abs(scale.factor("a") - 2) < 0.02, `factor ${scale.factor("a")}`);
  assert.ok(Math.abs(imageTokens(scale.parts) - 1_500) < 30, `image ${imageTokens(scale.parts)}`);
});

test("both are learnt from one prompt where the replica counts its parts apart", () => {
  const scale = new TokenScale();
  for (let n = 0; n < 200; n++) {
    const promptParts = partsOf(scale.parts, ["image"]);
    scale.reported(makeRequest({ api: "a", target: "m", parsedTokens: 50_000, promptParts }), {
      ...usageOf(100_300),
      partTokens: 300,
    });
  }
  assert.ok(Math.abs(scale.factor("a") - 2) < 0.02, `factor ${scale.factor("a")}`);
  assert.ok(Math.abs(imageTokens(scale.parts) - 300) < 20, `image ${imageTokens(scale.parts)}`);
});
