/**
 * What a request costs, as counts that do not depend on the machine: function calls and bytes of objects, by folder of the project.
 * `npm run bench:count` prints them; with `-- --write` it makes them those that a test compares.
 */
import { parseArgs } from "node:util";
import { table } from "../../core/report/table.ts";
import { type Cost, type Costs, sumOf } from "./count/cost.ts";
import { measureAll } from "./count/measure.ts";
import { differences, NOT_COUNTED, readSavedCosts, writeSavedCosts } from "./count/saved-costs.ts";

const { values } = parseArgs({ options: { write: { type: "boolean", default: false } } });
if (NOT_COUNTED !== "") throw new Error(NOT_COUNTED);

const measured = await measureAll();
for (const [name, costs] of measured) console.log(`\n${costTable(name, costs)}`);
const sums = Object.fromEntries([...measured].map(([name, costs]) => [name, sumOf(costs)]));
const changes = differences(readSavedCosts(), sums);
console.log(`\n${changes.length === 0 ? "All is within 3 % of costs.json." : changes.join("\n")}`);
if (values.write) writeSavedCosts(sums);

function costTable(name: string, costs: Costs): string {
  const row = (title: string, { calls, functions, files, bytes }: Cost) => [
    ...[title, calls.toFixed(1), String(functions), String(files), bytes.toFixed(0)],
  ];
  const rows = [
    [name, "calls", "functions", "files", "bytes"],
    ...[...costs].map(([folder, cost]) => row(folder, cost)),
    row("all", sumOf(costs)),
  ];
  return table(["left", "right", "right", "right", "right"], rows).join("\n");
}
