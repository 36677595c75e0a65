import { LIMITS } from "../../core/settings/tables.ts";

/** The table of config/LIMITS.md, a line for each limit. What stands in the last column of `markdown` stays. */
export function limitsTable(markdown: string): readonly string[] {
  const rows = Object.entries(LIMITS).map(([key, limit]) => {
    const [, reason = ""] = new RegExp(`^\\| \`${key}\` *\\|[^|]*\\|(.*)\\|$`, "m").exec(markdown) ?? [];
    return [`\`${key}\``, String(limit.default), reason.trim()];
  });
  const table = [["key", "default", "what happens beyond it, and why this value"], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  const lines = table.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`);
  return [lines[0] ?? "", `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...lines.slice(1)];
}
