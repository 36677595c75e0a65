import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { PAIR_JOBS } from "../../../config/endpoint-picker/pair-jobs.ts";
import { BUILT_IN_JOBS, FILE_DISCOVERY, PARSER_TYPES } from "../../../config/endpoint-picker/types.ts";
import { REFUSED_TYPES, SECTION_TYPES } from "../../../config/plugins/refused-types.ts";
import { REFERENCE_NAMES } from "../../../plugins/reference-names.ts";

/** Types with the same name in both routers. */
const SHARED = ["session-affinity-scorer", "session-affinity-filter", "context-length-aware", "by-label"];

const document = readFileSync(join(import.meta.dirname ?? ".", "..", "..", "..", "docs", "reference-router.md"), "utf8");
const [, table = ""] = document.split("## Every type by its name\n");
const [text = ""] = table.split("\n## ", 1);
const rows = text.split("\n").flatMap((line) => {
  const [, types = "", here = ""] = line.split("|");
  return [...types.matchAll(/`([^`]+)`/g)].map(([, type]) => ({ type: type!, isRefused: here.trim() === "refused" }));
});

test("the table has every type that is known, once", () => {
  // In a Router document a section says the same.
  const sections = [...SECTION_TYPES.keys()];
  const known = [
    ...sections,
    ...Object.keys(REFERENCE_NAMES),
    ...Object.keys(BUILT_IN_JOBS),
    ...Object.keys(PAIR_JOBS),
    ...Object.keys(PARSER_TYPES),
    FILE_DISCOVERY,
    ...SHARED,
  ];
  const listed = (isRefused: boolean) => rows.filter((row) => row.isRefused === isRefused).map(({ type }) => type);
  assert.deepEqual(listed(false).sort(), known.sort());
  assert.deepEqual(listed(true).sort(), [...REFUSED_TYPES.keys()].filter((type) => !sections.includes(type)).sort());
});

test("a row names what stands for a type", () => {
  for (const [name, { type }] of Object.entries(REFERENCE_NAMES)) {
    const row = text.split("\n").find((line) => line.startsWith("|") && line.split("|")[1]!.includes(`\`${name}\``));
    assert.ok(row?.split("|")[2]?.includes(`\`${type}\``), `${name}: ${type}`);
  }
});
