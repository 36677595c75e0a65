/** Control characters, line and paragraph separators, and characters that change the direction of text. */
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * The text with "?" for each character that could steer a terminal or begin another line. Names of models, replicas and labels
 * come from outside and may hold anything: print them only through this.
 *
 * @example
 * host.output.print(printable(request.model));
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, "?");
}

/** The same for a text of several lines, whose line feeds stay. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
