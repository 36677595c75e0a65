// Writes the table of config/LIMITS.md.
import { readFileSync, writeFileSync } from "node:fs";
import { limitsTable } from "./limits-table.ts";

const FILE = new URL("../../config/LIMITS.md", import.meta.url);
writeFileSync(
  FILE,
  readFileSync(FILE, "utf8").replace(/^\|.*\|$/ms, () => limitsTable().join("\n")),
);
