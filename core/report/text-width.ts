import measured from "fast-string-truncated-width";

// Columns of a terminal, not characters: an ideograph or an emoji takes two.

const ELLIPSIS = "…";

/** Each of these takes one column. Most texts have no others, and the package takes much longer. */
const IS_PLAIN = /^[\x20-\x7e]*$/;

/** How many columns a text takes. */
export function widthOf(text: string): number {
  return IS_PLAIN.test(text) ? text.length : measured(text).width;
}

/** The text, cut to so many columns; an ellipsis stands for what is missing. */
export function cut(text: string, columns: number): string {
  if (columns === Number.POSITIVE_INFINITY) return text;
  const { index, truncated, ellipsed } = measured(text, { limit: columns, ellipsis: ELLIPSIS });
  return truncated ? text.slice(0, index) + (ellipsed ? ELLIPSIS : "") : text;
}

/** The same for a name, whose end says as much as its beginning: what is missing is in the middle. */
export function cutMiddle(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  const tail = Math.floor((columns - 1) / 2);
  if (tail <= 0) return cut(text, columns);
  const characters = IS_PLAIN.test(text) ? [...text] : [...CHARACTERS.segment(text)].map(({ segment }) => segment);
  let start = characters.length;
  for (let width = 0; start > 0; start--) {
    width += widthOf(characters[start - 1]!);
    if (width > tail) break;
  }
  return cut(text, columns - tail) + characters.slice(start).join("");
}

/** What a person takes for one character may be several of Unicode's. */
const CHARACTERS = new Intl.Segmenter();

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
