// Prints the table of plugins/observers/METRICS.md.
import { catalogueRows } from "./metrics-page.ts";

console.log(["| name | type | labels | meaning |", "| --- | --- | --- | --- |", ...catalogueRows()].join("\n"));
