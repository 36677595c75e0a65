import assert from "node:assert/strict";
import type { HeapProfiler, Profiler } from "node:inspector";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { root } from "../proxies.ts";
import { costsOf, sumOf } from "./cost.ts";

const ours = (file: string) => pathToFileURL(join(root, file)).href;

function script(url: string, counts: Readonly<Record<string, number>>): Profiler.ScriptCoverage {
  const functions = Object.entries(counts).map(([functionName, count]) => ({
    ...{ functionName, isBlockCoverage: false },
    ranges: [{ startOffset: 0, endOffset: 1, count }],
  }));
  return { scriptId: "1", url, functions };
}

function node(
  url: string,
  selfSize: number,
  children: HeapProfiler.SamplingHeapProfileNode[] = [],
): HeapProfiler.SamplingHeapProfileNode {
  return { selfSize, children, callFrame: { functionName: "f", scriptId: "1", url, lineNumber: 0, columnNumber: 0 } };
}

describe("the costs of one of two requests", () => {
  const costs = costsOf(
    [
      script(ours("core/wire/head.ts"), { parse: 4, never: 0, __name: 100 }),
      script(ours("core/wire/framing.ts"), { frame: 2 }),
      script(ours("plugins/registry.ts"), { never: 0 }),
      script(ours("tests/bench/count/counting-process.ts"), { now: 50 }),
      script(ours("node_modules/zod/index.js"), { parse: 50 }),
      script("node:net", { onread: 50 }),
      script("", { evaluated: 50 }),
    ],
    {
      head: node("", 10, [
        node("node:net", 1_000, [
          node(ours("core/server/listener.ts"), 30, [
            node(ours("core/wire/head.ts"), 20, [node("node:buffer", 8)]),
            node(ours("tests/bench/count/counting-process.ts"), 2),
          ]),
        ]),
      ]),
    },
    2,
  );

  it("are calls of the router's own functions, and objects that they make, or what they call", () => {
    assert.deepEqual(
      [...costs],
      [
        ["core/server", { calls: 0, functions: 0, files: 0, bytes: 16 }],
        ["core/wire", { calls: 3, functions: 2, files: 2, bytes: 14 }],
      ],
    );
  });

  it("are added up", () => {
    assert.deepEqual(sumOf(costs), { calls: 3, functions: 2, files: 2, bytes: 30 });
  });
});
