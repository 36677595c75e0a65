import { ImportError } from "./import-error.ts";

/** A directive of nginx: its words, and what is in its braces. */
export interface Directive {
  readonly name: string;
  readonly words: readonly string[];
  readonly line: number;
  /** Undefined for one that ends with a semicolon. */
  readonly block: readonly Directive[] | undefined;
}

const DEEPEST = 32;
/** A word, a quoted word, a comment, a mark, or a line's end. */
const TOKEN = /#[^\n]*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[{};]|\n|[^\s{};"'#][^\s{};]*/gs;

/** The directives in a text. Throws an ImportError with the line where braces or quotes don't match. */
export function directivesIn(file: string, text: string): readonly Directive[] {
  const root: Directive[] = [];
  const open: Directive[][] = [root];
  let words: string[] = [];
  let line = 1;
  let start = 1;
  let end = 0;
  const fail = (what: string) => new ImportError(`${file}:${line}: ${what}.`);
  const add = (block: Directive[] | undefined) => {
    const [name, ...rest] = words;
    if (name === undefined) {
      if (block !== undefined) throw fail("a { without a name in front of it");
      return;
    }
    open.at(-1)!.push({ name, words: rest, line: start, block });
    words = [];
  };
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (text.slice(end, index).trim() !== "") throw fail("a quote that does not end");
    end = index + token.length;
    if (token === ";") add(undefined);
    else if (token === "{") {
      const block: Directive[] = [];
      add(block);
      open.push(block);
      if (open.length > DEEPEST) throw fail(`more than ${DEEPEST} levels of braces`);
    } else if (token === "}") {
      if (words.length > 0) throw fail(`"${words[0]!.slice(0, 40)}" does not end with a semicolon`);
      open.pop();
      if (open.length === 0) throw fail("a } without its {");
    } else if (token !== "\n" && !token.startsWith("#")) {
      if (words.length === 0) start = line;
      words.push(/^["']/.test(token) ? token.slice(1, -1).replace(/\\(.)/gs, "$1") : token);
    }
    line += token.split("\n").length - 1;
  }
  if (text.slice(end).trim() !== "") throw fail("a quote that does not end");
  if (words.length > 0 || open.length > 1)
    throw fail(open.length > 1 ? "a { that does not end" : "the last directive does not end with a semicolon");
  return root;
}
