import measured from "fast-string-truncated-width";

// Columns of a terminal, not characters: an ideograph or an emoji takes two.

const ELLIPSIS = "…";

/** How many columns a text takes. */
export function widthOf(text: string): number {
  return measured(text).width;
}

/** The text, cut to so many columns; an ellipsis stands for what is missing. */
export function cut(text: string, columns: number): string {
  if (columns === Number.POSITIVE_INFINITY) return text;
  const { index, truncated, ellipsed } = measured(text, { limit: columns, ellipsis: ELLIPSIS });
  return truncated ? text.slice(0, index) + (ellipsed ? ELLIPSIS : "") : text;
}

/** The text in lines of at most so many columns, broken between words; further lines are indented. A longer word is broken too. */
export function wrapped(text: string, columns: number, indent: number): readonly string[] {
  if (widthOf(text) <= columns) return [text];
  const lines: string[] = [];
  const space = " ".repeat(columns > 2 * indent ? indent : 0);
  let line = "";
  // What separates words goes with the word before it, so that columns stay as they are.
  for (const word of text.match(/\s*\S+/g) ?? []) {
    if (widthOf(line + word) <= columns) line += word;
    else {
      if (line.trim() !== "") lines.push(line);
      line = (line === "" ? "" : space) + word.trimStart();
    }
    while (widthOf(line) > columns) {
      const { index } = measured(line, { limit: columns, ellipsis: "" });
      if (index === 0) break;
      lines.push(line.slice(0, index));
      line = space + line.slice(index);
    }
  }
  return line === "" ? lines : [...lines, line];
}

/** The same for each line of a text. */
export function wrappedLines(text: string, columns: number, indent = 2): string {
  return text
    .split("\n")
    .flatMap((line) => wrapped(line, columns, indent))
    .join("\n");
}

/** Columns of the terminal that the standard output is; Infinity where it is none. `isTerminal` as `isatty(1)` says. */
export function terminalColumns(isTerminal: boolean): number {
  return isTerminal ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
}
