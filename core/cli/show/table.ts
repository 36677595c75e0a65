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

export type Column<Row> = readonly [title: string, cell: (row: Row) => string, alignment?: Alignment];

/** A line with the titles, and one for each row; columns are aligned to the right if they don't say otherwise. */
export function columnTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): readonly string[] {
  const cells = rows.map((row) => columns.map(([, cell]) => cell(row)));
  const alignments = columns.map(([, , alignment = "right"]) => alignment);
  return table(alignments, [columns.map(([title]) => title), ...cells]);
}

function pad(cell: string, width: number, alignment: Alignment): string {
  return alignment === "left" ? cell.padEnd(width) : cell.padStart(width);
}
