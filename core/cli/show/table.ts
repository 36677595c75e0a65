import { cut, widthOf } from "./text-width.ts";

export type Alignment = "left" | "right";

/** Columns of text are cut to no less than this. */
const LEAST_TEXT = 8;

/** Formats rows as lines; each column is as wide as its widest cell. */
export function table(alignments: readonly Alignment[], rows: readonly (readonly string[])[], gap = 2): readonly string[] {
  const widths = widthsOf(alignments, rows);
  return rows.map((row) =>
    alignments
      .map((alignment, column) => pad(row[column] ?? "", widths[column]!, alignment))
      .join(" ".repeat(gap))
      .trimEnd(),
  );
}

export type Column<Row> = readonly [title: string, cell: (row: Row) => string, alignment?: Alignment];

/**
 * A line with the titles, and one for each row; columns are aligned to the right if they don't say otherwise. Where that is wider than
 * `most`, titles take two lines and columns of text are cut with an ellipsis; no column is left out.
 */
export function columnTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  most = Number.POSITIVE_INFINITY,
): readonly string[] {
  const cells = rows.map((row) => columns.map(([, cell]) => cell(row)));
  const alignments = columns.map(([, , alignment = "right"]) => alignment);
  const titles = columns.map(([title]) => title);
  const lines = table(alignments, [titles, ...cells]);
  if (most === Number.POSITIVE_INFINITY || lines.every((line) => widthOf(line) <= most)) return lines;
  const heads = [titles.map((title) => splitTitle(title)[0]), titles.map((title) => splitTitle(title)[1])];
  const widths = shrunk(alignments, widthsOf(alignments, [...heads, ...cells]), most);
  const fitting = cells.map((row) => row.map((cell, column) => cut(cell, widths[column]!)));
  return table(alignments, [...heads, ...fitting], 1);
}

/** "KV cache" in two lines; one word stands in the second. */
function splitTitle(title: string): readonly [string, string] {
  const at = title.indexOf(" ");
  return at < 0 ? ["", title] : [title.slice(0, at), title.slice(at + 1)];
}

/** Takes from the widest column of text until all fit, with one space between them. */
function shrunk(alignments: readonly Alignment[], natural: readonly number[], most: number): readonly number[] {
  const widths = [...natural];
  for (let over = sum(widths) + widths.length - 1 - most; over > 0; over--) {
    const texts = widths.map((width, column) => (alignments[column] === "left" ? width : 0));
    const widest = Math.max(...texts);
    if (widest <= LEAST_TEXT) break;
    widths[texts.indexOf(widest)] = widest - 1;
  }
  return widths;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function widthsOf(alignments: readonly Alignment[], rows: readonly (readonly string[])[]): readonly number[] {
  return alignments.map((_, column) => rows.reduce((most, row) => Math.max(most, widthOf(row[column] ?? "")), 0));
}

function pad(cell: string, width: number, alignment: Alignment): string {
  const space = " ".repeat(Math.max(0, width - widthOf(cell)));
  return alignment === "left" ? cell + space : space + cell;
}
