import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { z } from "../../../core/contract/options.ts";
import { decisionReportSchema, dryRunReportSchema } from "../../../core/report/report-schema.ts";

const page = readFileSync(join(import.meta.dirname ?? ".", "../../../docs/explain.md"), "utf8");
const rows = [...page.matchAll(/^\| `(\w+)` +\| (both|ended|dry) +\| (.*) \|$/gm)].map(([, key = "", where = "", text = ""]) => ({
  key,
  where,
  text,
}));

const keysOf = (schema: z.ZodType) => {
  const { properties = {} } = z.toJSONSchema(schema) as { properties?: Record<string, object> };
  return Object.keys(properties).sort();
};

describe("docs/explain.md lists every key of", () => {
  for (const [where, schema] of [
    ["ended", decisionReportSchema],
    ["dry", dryRunReportSchema],
  ] as const) {
    it(`the report of ${where === "ended" ? "a request that has ended" : "a dry run"}, and no other`, () => {
      const listed = rows.filter((row) => row.where === "both" || row.where === where).map(({ key }) => key);
      assert.deepEqual(listed.sort(), keysOf(schema));
    });
  }

  it("a candidate", () => {
    const { properties } = z.toJSONSchema(dryRunReportSchema) as unknown as {
      properties: { candidates: { items: { properties: Record<string, object> } } };
    };
    const text = rows.find(({ key }) => key === "candidates")?.text ?? "";
    for (const key of Object.keys(properties.candidates.items.properties)) assert.ok(text.includes(`\`${key}\``), key);
  });
});
