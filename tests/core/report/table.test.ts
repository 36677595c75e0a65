import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Column, columnTable } from "../../../core/report/table.ts";
import { widthOf } from "../../../core/report/text-width.ts";

interface Row {
  readonly name: string;
  readonly load: number;
}
const COLUMNS: readonly Column<Row>[] = [
  ["replica", ({ name }) => name, "left"],
  ["in flight", ({ load }) => String(load)],
  ["waiting", () => "0"],
];

describe("a table in a terminal", () => {
  it("is aligned where names are ideographs or emoji", () => {
    const lines = columnTable(COLUMNS, [
      { name: "gpu-1", load: 1 },
      { name: "模型-一", load: 22 },
      { name: "🚂", load: 3 },
    ]);
    assert.deepEqual(
      lines.map((line) => widthOf(line)),
      [27, 27, 27, 27],
    );
    assert.equal(lines[2], "模型-一         22        0");
  });

  it("loses no column where it is narrow: titles take two lines, texts are cut", () => {
    const lines = columnTable(COLUMNS, [{ name: "vllm-llama-70b-0.default", load: 1 }], 26);
    assert.deepEqual(lines, ["                in", "replica     flight waiting", "vllm-llama…      1       0"]);
  });

  it("cuts names in their middle, and before texts", () => {
    const columns: readonly Column<Row>[] = [
      ["replica", ({ name }) => name, "name"],
      ["why", () => "not-ready: connection refused", "left"],
    ];
    const rows = [{ name: "vllm-llama-70b-0.default", load: 1 }];
    assert.equal(columnTable(columns, rows, 40).at(-1), "vllm-…ault not-ready: connection refused");
    assert.equal(columnTable(columns, rows, 20).at(-1), "vllm…ult not-ready:…");
  });
});
