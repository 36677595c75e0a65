import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ServedPaths } from "../../../../plugins/features/ejection/served-paths.ts";

const served = (...pairs: readonly (readonly [model: string, path: string])[]): ServedPaths => {
  const paths = new ServedPaths();
  for (const [model, path] of pairs) paths.add(model, path, 0);
  return paths;
};

describe("a model was served on a path", () => {
  const rows: readonly (readonly [name: string, paths: ServedPaths, isServed: boolean])[] = [
    ["nothing was served", served(), false],
    ["it was", served(["m", "/v1/embeddings"]), true],
    ["it was, and others since", served(["m", "/v1/embeddings"], ["n", "/v1/rerank"], ["m", "/v1/rerank"]), true],
    ["another model was", served(["n", "/v1/embeddings"]), false],
    ["it was on another path", served(["m", "/v1/rerank"]), false],
  ];
  for (const [name, paths, isServed] of rows) it(name, () => assert.equal(paths.has("m", "/v1/embeddings"), isServed));

  it("at a time, which is the last one", () => {
    const paths = new ServedPaths();
    assert.equal(paths.servedAtMs("m", "/v1/rerank"), Number.NEGATIVE_INFINITY);
    for (const [path, nowMs] of [
      ["/v1/rerank", 1],
      ["/v1/rerank", 2],
      ["/v1/embeddings", 3],
    ] as const)
      paths.add("m", path, nowMs);
    assert.deepEqual([paths.servedAtMs("m", "/v1/rerank"), paths.servedAtMs("m", "/v1/embeddings")], [2, 3]);
  });

  it("of so many models that not all are kept", () => {
    const paths = new ServedPaths();
    for (let model = 0; model < 30_000; model += 1) paths.add(`m${model}`, "/v1/completions", 0);
    assert.equal(paths.has("m29999", "/v1/completions"), true);
    assert.equal(paths.has("m0", "/v1/completions"), false);
  });

  it("after all were let go, what is served without a break is known again", () => {
    const paths = new ServedPaths();
    for (let model = 0; model < 10_001; model += 1) paths.add(`m${model}`, "/v1/completions", 0);
    paths.add("m10000", "/v1/completions", 0);
    assert.equal(paths.has("m10000", "/v1/completions"), true);
  });
});
