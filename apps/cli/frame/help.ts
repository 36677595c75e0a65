import { isatty } from "node:tty";
import type { Command, CommandGroup, Switch } from "../../../config/command.ts";
import { terminalColumns, widthOf, wrapped } from "../../../core/report/text-width.ts";
import { OWN_ROOT } from "../../../core/runtime/own-files.ts";

/** Longer lines are hard to read. */
const MOST_COLUMNS = 110;
const LEAST_COLUMNS = 40;

/** What people need first; the help begins with these. */
const FIRST: readonly string[] = ["start", "check", "status", "top", "explain"];

const GROUPS: readonly (readonly [group: CommandGroup, title: string])[] = [
  ["run", "Run"],
  ["look", "Look"],
  ["change", "Change what runs"],
  ["write plugins", "Write plugins"],
  ["move in", "Move in from another router"],
];

const TITLE = "signalbox: puts each LLM inference request on the right replica, under the right model name";
const EXIT_CODES = "Exit codes: 0 ok; 1 invalid config, or a check that failed; 2 wrong usage; 3 degraded; 4 unreachable router.";

/** Where the documents are; a single binary has none. */
const DOCUMENTS = OWN_ROOT === "" ? [] : [`The documents are in ${OWN_ROOT}docs; ${OWN_ROOT}README.md has an index by task.`];

/** The columns that help takes on the standard output. */
export function helpColumns(): number {
  return Math.max(LEAST_COLUMNS, Math.min(MOST_COLUMNS, terminalColumns(isatty(1))));
}

/** The help of the program: what people need first, and one sentence for each other command. */
export function programHelp(commands: readonly Command[], columns = MOST_COLUMNS): string {
  const first = FIRST.flatMap((name) => commands.find((each) => each.name === name) ?? []);
  const others = commands.filter((each) => !first.includes(each));
  const nameColumns = Math.max(0, ...others.map(({ name }) => name.length));
  const entry = ({ name, summary }: Command) =>
    wrapped(`  ${name.padEnd(nameColumns)}  ${firstSentence(summary)}`, columns, nameColumns + 4);
  const groups = GROUPS.flatMap(([group, title]) => {
    const members = others.filter((each) => each.group === group);
    return members.length === 0 ? [] : ["", title, ...members.flatMap(entry)];
  });
  return joined([
    ...wrapped(TITLE, columns, 2),
    "",
    ...first.flatMap(({ name, words, summary }) => [
      ...wrapped(`  signalbox ${name} ${words}`.trimEnd(), columns, 4),
      ...wrapped(`      ${firstSentence(summary)}`, columns, 6),
    ]),
    ...groups,
    "",
    ...wrapped(`"signalbox help COMMAND" says more of one, "signalbox --help --all" of all.`, columns, 2),
    ...closing(columns),
  ]);
}

/** Everything: each command with all that its own help says. */
export function wholeHelp(commands: readonly Command[], columns = MOST_COLUMNS): string {
  const groups = GROUPS.flatMap(([group, title]) => {
    const members = commands.filter((each) => each.group === group);
    return members.length === 0
      ? []
      : ["", title.toUpperCase(), ...members.flatMap((each) => ["", ...commandLines(each, columns)])];
  });
  return joined([...wrapped(TITLE, columns, 2), ...groups, "", ...closing(columns)]);
}

/** The help of one command. */
export function commandHelp(command: Command, columns = MOST_COLUMNS): string {
  return joined([...commandLines(command, columns), "", ...wrapped(EXIT_CODES, columns, 2)]);
}

/** The same in short: what it does in one sentence, and its switches. */
export function shortHelp(command: Command, columns = MOST_COLUMNS): string {
  const { name, summary, details = "" } = command;
  const hasMore = details !== "" || firstSentence(summary) !== summary;
  return joined([
    ...usageLines(command, columns),
    ...wrapped(firstSentence(summary), columns, 0),
    "",
    ...switchLines(command.switches, columns),
    ...(hasMore ? ["", `"signalbox ${name} --help" says more.`] : []),
  ]);
}

/** Switches as a table with a line for each, or more for a long meaning. */
export function switchLines(switches: readonly Switch[], columns = MOST_COLUMNS): readonly string[] {
  const nameColumns = Math.max(0, ...switches.map((each) => widthOf(switchText(each))));
  const indent = nameColumns + 4;
  return switches.flatMap((each) =>
    meaningText(each)
      .split("\n")
      .flatMap((line, index) =>
        wrapped(`  ${(index === 0 ? switchText(each) : "").padEnd(nameColumns)}  ${line}`, columns, indent),
      ),
  );
}

function commandLines(command: Command, columns: number): readonly string[] {
  const { summary, details = "", switches } = command;
  return [
    ...usageLines(command, columns),
    ...wrapped(summary, columns, 0),
    "",
    ...(details === "" ? [] : [...details.trimEnd().split("\n"), ""]),
    ...switchLines([...switches, HELP], columns),
  ];
}

const usageLines = ({ name, words }: Command, columns: number) =>
  wrapped(`Usage: signalbox ${name} ${words}`.trimEnd(), columns, 4);

const closing = (columns: number) => [...DOCUMENTS, ...wrapped(EXIT_CODES, columns, 2)];

const joined = (lines: readonly string[]) => `${lines.join("\n")}\n`;

/** A full stop inside brackets or a name ends no sentence. */
function firstSentence(text: string): string {
  return /^.*?[^.]\.(?= [A-Z]|$)/.exec(text)?.[0] ?? text;
}

const HELP: Switch = { name: "help", short: "h", meaning: "shows this text" };

function switchText({ name, short, value, isRepeated }: Switch): string {
  const names = short === undefined ? `--${name}` : `-${short}, --${name}`;
  return `${names}${value === undefined ? "" : ` ${value}`}${isRepeated ? "..." : ""}`;
}

function meaningText({ meaning, default: usual }: Switch): string {
  return usual === undefined ? meaning : `${meaning} (default ${usual})`;
}
