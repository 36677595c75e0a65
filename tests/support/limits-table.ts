import { LIMITS } from "../../core/settings/limits.ts";

/** The table of config/LIMITS.md, a line for each row. */
export function limitsTable(): readonly string[] {
  const rows = Object.entries(LIMITS).map(([key, limit]) => [`\`${key}\``, String(limit.default), limit.beyond]);
  const table = [["key", "default", "what happens beyond it, and why this value"], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lines = table.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`);
  return [lines[0] ?? "", `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...lines.slice(1)];
}
