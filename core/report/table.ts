import { cut, cutMiddle, widthOf } from "./text-width.ts";

export type Alignment = "left" | "right";

/** Columns of names and of text are cut to no less than this. */
const LEAST_TEXT = 8;

/** Formats rows as lines; each column is as wide as its widest cell. */
export function table(alignments: readonly Alignment[], rows: readonly (readonly string[])[], gap = 2): readonly string[] {
  return aligned(alignments, widthsOf(alignments, rows), rows, gap);
}

function aligned(
  alignments: readonly Alignment[],
  widths: readonly number[],
  rows: readonly (readonly string[])[],
  gap: number,
): readonly string[] {
  return rows.map((row) =>
    alignments
      .map((alignment, column) => pad(row[column] ?? "", widths[column]!, alignment))
      .join(" ".repeat(gap))
      .trimEnd(),
  );
}

/** A number stands on the right. A name is cut before a text is, and in its middle. */
export type Content = Alignment | "name";

export type Column<Row> = readonly [title: string, cell: (row: Row) => string, content?: Content];

/**
 * A line with the titles, and one for each row; columns are aligned to the right if they don't say otherwise. Where that is wider than
 * `most`, titles take two lines, and columns of names, then of text, are cut with an ellipsis; no column is left out.
 */
export function columnTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  most = Number.POSITIVE_INFINITY,
): readonly string[] {
  const cells = rows.map((row) => columns.map(([, cell]) => cell(row)));
  const contents = columns.map(([, , content = "right"]) => content);
  const alignments = contents.map((content) => (content === "right" ? "right" : "left"));
  const titles = columns.map(([title]) => title);
  const natural = widthsOf(alignments, [titles, ...cells]);
  if (sum(natural) + 2 * (natural.length - 1) <= most) return aligned(alignments, natural, [titles, ...cells], 2);
  const heads = [titles.map((title) => splitTitle(title)[0]), titles.map((title) => splitTitle(title)[1])];
  const widths = shrunk(contents, widthsOf(alignments, [...heads, ...cells]), most);
  const fitting = cells.map((row) =>
    row.map((cell, column) => (contents[column] === "name" ? cutMiddle : cut)(cell, widths[column]!)),
  );
  return table(alignments, [...heads, ...fitting], 1);
}

/** "KV cache" in two lines; one word stands in the second. */
function splitTitle(title: string): readonly [string, string] {
  const at = title.indexOf(" ");
  return at < 0 ? ["", title] : [title.slice(0, at), title.slice(at + 1)];
}

/**
 * Takes from columns of names until all fit, with one space between them: from the last one first, since the first one says what the
 * row is about. Then it takes from the widest column of text.
 */
function shrunk(contents: readonly Content[], natural: readonly number[], most: number): readonly number[] {
  const widths = [...natural];
  let over = sum(widths) + widths.length - 1 - most;
  const take = (column: number, columns: number) => {
    const taken = Math.max(0, Math.min(columns, over, widths[column]! - LEAST_TEXT));
    widths[column]! -= taken;
    over -= taken;
  };
  for (let column = widths.length - 1; column >= 0; column--) if (contents[column] === "name") take(column, over);
  const texts = widths.flatMap((_, column) => (contents[column] === "left" ? [column] : []));
  while (over > 0 && texts.some((column) => widths[column]! > LEAST_TEXT))
    take(
      texts.reduce((widest, column) => (widths[column]! > widths[widest]! ? column : widest)),
      1,
    );
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
