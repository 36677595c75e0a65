import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { onThisRuntime, programOnThisRuntime } from "./own-runtime.ts";

const SCRIPT = join(import.meta.dirname ?? ".", "terminal.py");
const children: ChildProcess[] = [];

/** Why no test can have a terminal here; false where it can. */
export const NO_TERMINAL = spawnSync("python3", ["--version"]).status === 0 ? false : "there is no python3 to make a terminal";

/** A program at a terminal of its own, as the one who sits there sees it. */
export interface Terminal {
  readonly text: string;
  send(signal: number): void;
  press(key: string): void;
  /** Closes the terminal, as one closes its window. The text gets the program's exit code. */
  close(): void;
}

/** Starts the program on the runtime of this test. */
export function inTerminal(columns: number, rows: number, ...words: string[]): Terminal {
  const { command, args } = programOnThisRuntime();
  return started([String(columns), String(rows), command, ...args, ...words]);
}

/** Starts a file on the runtime of this test. */
export function fileInTerminal(file: string, columns: number, rows: number, ...words: string[]): Terminal {
  const { command, args } = onThisRuntime(file);
  return started([String(columns), String(rows), command, ...args, ...words]);
}

/** Ends what still runs of the programs. */
export function closeTerminals(): void {
  for (const child of children) child.kill("SIGKILL");
}

function started(words: readonly string[]): Terminal {
  const child = spawn("python3", [SCRIPT, ...words]);
  children.push(child);
  let text = "";
  child.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  return {
    get text() {
      return text;
    },
    send: (signal) => void child.stdin.write(`${signal}\n`),
    press: (key) => void child.stdin.write(`key ${key}\n`),
    close: () => void child.stdin.write("close\n"),
  };
}
