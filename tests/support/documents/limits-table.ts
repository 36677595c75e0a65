import { LIMITS } from "../../../core/settings/tables.ts";
import { markdownTable } from "./markdown-table.ts";

/** The table of config/LIMITS.md, a line for each limit. What stands in the last column of `markdown` stays. */
export function limitsTable(markdown: string): string {
  const rows = Object.entries(LIMITS).map(([key, limit]) => {
    const [, reason = ""] = new RegExp(`^\\| \`${key}\` *\\|[^|]*\\|(.*)\\|$`, "m").exec(markdown) ?? [];
    return [`\`${key}\``, String(limit.default), reason.trim()];
  });
  return markdownTable([["key", "default", "what happens beyond it, and why this value"], ...rows]);
}
