import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { type Figure, figures, type Samples } from "./cells.ts";
import { median } from "./median.ts";

/** All samples of a run: per repeat, per subject. */
export type Run = readonly Readonly<Record<string, Samples>>[];

/** Whatever else was measured, these two are what the others are held against. */
export const DIRECT = "direct";
const REFERENCE = "nginx";

/** The table, as Markdown that reads well as it is: one row per figure, one column per proxy. */
export function table(run: Run, subjects: readonly string[]): string {
  const columns = subjects.filter((subject) => subject !== DIRECT);
  const rows = [
    ["", ...columns],
    ...figures.map((figure) => [figure.title, ...columns.map((subject) => cellText(figure, run, subject))]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) => `| ${row.map((text, column) => pad(text, widths[column]!, column)).join(" | ")} |`);
  const rule = `|${widths.map((width, column) => (column === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  return [lines[0], rule, ...lines.slice(1)].join("\n");
}

const pad = (text: string, width: number, column: number) => (column === 0 ? text.padEnd(width) : text.padStart(width));

/** The median over the repeats; ratios are taken inside of each repeat, then their median. */
function cellText(figure: Figure, run: Run, subject: string): string {
  const values = run.map((repeat) => (figureOf(figure, repeat, subject) ?? Number.NaN) * figure.scale);
  const value = median(values);
  if (Number.isNaN(value)) return "-";
  const digits = Math.abs(value) < 100 && !Number.isInteger(value) ? 1 : 0;
  const text = value.toFixed(digits);
  if (figure.against !== "ratio") return text;
  const ratio = median(
    run.map((repeat) => (figureOf(figure, repeat, subject) ?? Number.NaN) / (figureOf(figure, repeat, REFERENCE) ?? Number.NaN)),
  );
  return Number.isNaN(ratio) ? text : `${text} (${ratio.toFixed(2)}x)`;
}

function figureOf({ key, against }: Figure, repeat: Readonly<Record<string, Samples>>, subject: string): number | undefined {
  const value = repeat[subject]?.[key];
  if (against !== "added" || value === undefined) return value;
  const direct = repeat[DIRECT]?.[key];
  return direct === undefined ? undefined : value - direct;
}

/** Saves the run beside the table and returns where. */
export function save(folder: string, run: Run, shown: string, notes: readonly string[]): string {
  mkdirSync(folder, { recursive: true });
  const time = new Date().toISOString();
  const machine = { cpu: cpus()[0]?.model ?? "", cores: cpus().length, loadAverage: loadavg()[1]! };
  const path = join(folder, `proxies-${time.slice(0, 19).replaceAll(":", "-")}`);
  writeFileSync(`${path}.json`, `${JSON.stringify({ time, machine, notes, run }, null, 2)}\n`);
  const about =
    `Measured ${time} on ${machine.cores} cores (${machine.cpu}), load average ${machine.loadAverage.toFixed(1)}; ` +
    `medians of ${run.length}, multiples of nginx in the same run. Where other work kept the cores busy, trust the ratios and not the latencies.`;
  writeFileSync(`${path}.md`, `# Proxies side by side\n\n${about}\n\n${shown}\n\n${notes.map((note) => `- ${note}\n`).join("")}`);
  return `${path}.md`;
}
