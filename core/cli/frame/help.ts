import { table } from "../show/table.ts";
import type { Command, Switch } from "./command.ts";

const WIDTH = 110;

const EXIT_CODES =
  "Exit codes: 0 ok; 1 invalid config, or a check that failed; 2 wrong usage; 3 degraded; 4 unreachable router.\n";

/** The help of the whole program. */
export function programHelp(commands: readonly Command[]): string {
  const title = "signalbox: puts each LLM inference request on the right replica, under the right model name";
  const entries = commands.map(({ name, words, summary }) => `  signalbox ${name} ${words}`.trimEnd() + indented(summary, 6));
  return `${title}\n\n${entries.join("\n")}\n\n"signalbox COMMAND --help" lists a command's switches.\n${EXIT_CODES}`;
}

/** The help of one command. */
export function commandHelp({ name, words, summary, details = "", switches }: Command): string {
  const usage = `Usage: signalbox ${name} ${words}`.trimEnd();
  return `${usage}\n${indented(summary, 0)}\n\n${details}${switchLines([...switches, HELP])}\n\n${EXIT_CODES}`;
}

/** Switches as a table with a line for each, or more for a long meaning. */
export function switchLines(switches: readonly Switch[]): string {
  const rows = switches.flatMap((each) => {
    const [meaning, ...more] = meaningText(each).split("\n");
    return [[switchText(each), meaning!], ...more.map((line) => ["", line])];
  });
  return table(["left", "left"], rows)
    .map((line) => `  ${line}`)
    .join("\n");
}

const HELP: Switch = { name: "help", short: "h", meaning: "shows this text" };

function switchText({ name, short, value, isRepeated }: Switch): string {
  const names = short === undefined ? `--${name}` : `-${short}, --${name}`;
  return `${names}${value === undefined ? "" : ` ${value}`}${isRepeated ? "..." : ""}`;
}

function meaningText({ meaning, default: usual }: Switch): string {
  return usual === undefined ? meaning : `${meaning} (default ${usual})`;
}

/** The text in lines of a readable length, each on a line of its own. */
function indented(text: string, columns: number): string {
  const lines: string[] = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1)!;
    if (line.length > 0 && columns + line.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines.map((line) => `\n${" ".repeat(columns)}${line}`).join("");
}
