import type { Draft } from "./draft.ts";
import { notUnderstood } from "./finding.ts";
import type { Take } from "./taking.ts";

/** A word of a command, and its line. */
export interface Word {
  readonly text: string;
  readonly line: number;
}

/** A switch: how many words follow it. */
export interface Flag {
  readonly takes: 0 | 1 | "many";
  readonly take: Take;
}

export const flag = (take: Take): Flag => ({ takes: 1, take });
export const toggle = (take: Take): Flag => ({ takes: 0, take });
export const list = (take: Take): Flag => ({ takes: "many", take });

/** The same for many switches. */
export function flags(names: readonly string[], one: Flag): Readonly<Record<string, Flag>> {
  return Object.fromEntries(names.map((name) => [name, one]));
}

const isBreak = (text: string, at: number) => text[at] === "\n" || text[at] === ";" || text[at] === "&" || text[at] === "|";

/**
 * The commands in a text as a shell reads them, as words: quotes, backslashes, comments and continued lines are understood;
 * variables are left as they stand. A quote that does not end reaches to the end of the text.
 */
export function commandsIn(text: string): readonly (readonly Word[])[] {
  const commands: Word[][] = [[]];
  let word: { text: string; line: number } | undefined;
  let line = 1;
  let quote = "";
  const end = () => {
    if (word !== undefined) commands.at(-1)!.push(word);
    word = undefined;
  };
  const add = (part: string) => {
    word ??= { text: "", line };
    word.text += part;
  };
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (quote !== "") {
      if (char === quote) quote = "";
      else if (char === "\\" && quote === '"' && at + 1 < text.length) add(text[++at] === "\n" ? "" : text[at]!);
      else add(char);
    } else if (char === '"' || char === "'") {
      quote = char;
      add("");
    } else if (char === "\\" && at + 1 < text.length) {
      if (text[++at] === "\n") end();
      else add(text[at]!);
    } else if (char === "#" && word === undefined) {
      while (at + 1 < text.length && text[at + 1] !== "\n") at++;
    } else if (isBreak(text, at)) {
      end();
      commands.push([]);
    } else if (/\s/.test(char)) end();
    else add(char);
    if (text[at] === "\n") line += 1;
  }
  end();
  return commands.filter((words) => words.length > 0);
}

/** Takes the switches of a command into the draft. */
export function takeFlags(words: readonly Word[], table: Readonly<Record<string, Flag>>, draft: Draft): void {
  let at = 0;
  while (at < words.length) {
    const { text, line } = words[at++]!;
    const [name = "", own] = text.split(/=(.*)/s, 2);
    const known = name.startsWith("--") && Object.hasOwn(table, name) ? table[name] : undefined;
    const values: string[] = own === undefined ? [] : [own];
    const most = known?.takes === "many" ? Number.POSITIVE_INFINITY : (known?.takes ?? Number.POSITIVE_INFINITY);
    while (values.length < most && at < words.length && !words[at]!.text.startsWith("--")) values.push(words[at++]!.text);
    if (known === undefined)
      draft.find(shownName(name), line, notUnderstood("the router there has no such switch that is known here"));
    else if (values.length === 0 && known.takes === 1) draft.find(name, line, notUnderstood("it wants a value"));
    else if (own !== undefined && known.takes === 0) draft.find(name, line, notUnderstood("it takes no value"));
    else draft.find(name, line, known.take({ name, line, value: values[0] ?? true, words: values, lineAt: () => line }, draft));
  }
}

/** What is no switch may be a value, and a value a secret. */
function shownName(name: string): string {
  return /^--[\w-]{1,60}$/.test(name) ? name : "a word that is no switch";
}
