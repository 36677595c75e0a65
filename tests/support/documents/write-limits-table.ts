// Writes the keys and defaults of the table in config/LIMITS.md; what happens beyond a limit is written there by hand.
import { readFileSync, writeFileSync } from "node:fs";
import { limitsTable } from "./limits-table.ts";

const FILE = new URL("../../../config/LIMITS.md", import.meta.url);
const text = readFileSync(FILE, "utf8");
writeFileSync(
  FILE,
  text.replace(/^\|.*\|$/ms, () => limitsTable(text)),
);
