export type Alignment = "left" | "right";

/** Formats rows as lines; each column is as wide as its widest cell. */
export function table(alignments: readonly Alignment[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = alignments.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    alignments
      .map((alignment, column) => pad(row[column] ?? "", widths[column]!, alignment))
      .join("  ")
      .trimEnd(),
  );
}

function pad(cell: string, width: number, alignment: Alignment): string {
  return alignment === "left" ? cell.padEnd(width) : cell.padStart(width);
}
