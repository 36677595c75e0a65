import { styleText } from "node:util";

// `styleText` colours where its stream, usually the standard output, is a terminal that has colours. NO_COLOR and FORCE_COLOR count more.
// Lines are coloured when they have been cut and wrapped, so that no colour goes on behind its text.

const PHASE = /^((?:\S+ +)?| {2})(not-ready|ejected|starting|asleep|cordoned|draining|ready)(?=\s|:|$)/;
const PHASE_COLOURS = {
  "not-ready": "red",
  ejected: "red",
  starting: "yellow",
  asleep: "yellow",
  cordoned: "yellow",
  draining: "yellow",
  ready: "green",
} as const;

/** A line of the status: a replica's phase, or what needs attention. */
export function colouredState(line: string): string {
  if (line.startsWith("! ")) return styleText("yellow", line);
  return line.replace(PHASE, (_, before: string, phase: keyof typeof PHASE_COLOURS) => {
    return before + styleText(PHASE_COLOURS[phase], phase);
  });
}

/** The lines of a decision: its status code, and faults of plugins. */
export function colouredDecision(text: string): string {
  return text
    .replace(/^(\S+ +)(\d{3}|-)(?= )/, (_, time: string, code: string) => time + styleText(codeColour(code), code))
    .replace(/^ +! .*$/gm, (line) => styleText("red", line));
}

function codeColour(code: string): "green" | "yellow" | "red" {
  if (/^[123]/.test(code)) return "green";
  return code.startsWith("5") ? "red" : "yellow";
}

/** What a change added, removed and changed, a line for each. */
export function colouredChanges(text: string): string {
  return text
    .replace(/\badded$/gm, (word) => styleText("green", word))
    .replace(/\bremoved$/gm, (word) => styleText("red", word))
    .replace(/\bchanged$/gm, (word) => styleText("yellow", word));
}

/** Problems: what was probably meant, and the mark below a place in a file. */
export function colouredProblems(text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return text
    .replace(/Did you mean "[^"\n]*"\?/g, (hint) => styleText("cyan", hint, { stream }))
    .replace(/^( +\| *)\^$/gm, (_, before: string) => before + styleText("red", "^", { stream }));
}
