/** The text with what is made in place of what stands between `<!-- name -->` and `<!-- end of name -->`. */
export function withPart(text: string, name: string, made: string): string {
  const [begin, end] = [`<!-- ${name} -->\n\n`, `\n\n<!-- end of ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from)
    throw new Error(`The document needs the lines "${begin.trim()}" and "${end.trim()}" around what is made.`);
  return text.slice(0, from + begin.length) + made + text.slice(to);
}

/** A Mermaid diagram as Markdown has it. */
export const mermaid = (lines: readonly string[]) => ["```mermaid", ...lines, "```"].join("\n");
