import { type Flag, takeFlags, type Word } from "./command-line.ts";
import type { Draft } from "./draft.ts";
import { notUnderstood, type Taken } from "./finding.ts";
import { ImportError } from "./import-error.ts";
import type { Source, SourceKind } from "./source.ts";

const START: Taken = ["no meaning here", "it starts the program there"];

const notTaken = (line: number): Taken => [
  "left out",
  `one config is made of one command, and that in line ${line} was taken: import this one by itself (signalbox import -- COMMAND)`,
];

interface FlagSource extends SourceKind {
  /** Whether these are the words of its command. */
  isCommand(words: readonly string[]): boolean;
  readonly table: Readonly<Record<string, Flag>>;
  /** What its router does where the command says nothing. */
  readonly usual: { readonly host: string; readonly port: number };
  /** What all switches together mean. */
  finish?(draft: Draft): void;
}

/** A source that is the command line of a router. */
export function flagSource({ kind, title, isCommand, table, usual, finish }: FlagSource): Source {
  const isIts = (words: readonly Word[]) => isCommand(words.map(({ text }) => text));
  return {
    kind,
    title,
    recognises: ({ commands }) => commands.some(isIts),
    read({ commands }, draft) {
      const own = commands.find(isIts) ?? commands.find((words) => words.some(({ text }) => text.startsWith("--")));
      if (own === undefined) throw new ImportError("There is no command with switches (--…) in it to import.");
      for (const [key, value] of Object.entries(usual)) draft.set(`listen.${key}`, value, `the default of ${title}`);
      const first = own.findIndex(({ text }) => text.startsWith("--"));
      const program = first < 0 ? own : own.slice(0, first);
      if (program.length > 1) draft.find("what stands in front of the switches", program[0]!.line, START);
      takeFlags(own.slice(program.length), table, draft);
      for (const other of commands) {
        const { line } = other[0]!;
        if (other === own) continue;
        if (isIts(other)) draft.find("a further command of the router", line, notTaken(own[0]!.line));
        else
          draft.find(
            "a command that is not the router's",
            line,
            notUnderstood("it may say what its switches mean: read it yourself"),
          );
      }
      finish?.(draft);
    },
  };
}

/** Whether a word names one of these programs or Python modules: `python -m NAME.launch_router`, `/usr/bin/NAME`. */
export function isProgram(words: readonly string[], names: RegExp): boolean {
  const first = words.findIndex((word) => word.startsWith("--"));
  return words.slice(0, first < 0 ? words.length : first).some((word) => names.test(word.replace(/^.*[/=]/, "")));
}
