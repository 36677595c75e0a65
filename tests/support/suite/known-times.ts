import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Selections of tests whose time is kept; the oldest are forgotten. */
const MOST_KEPT = 50;

/** How long selections of tests took on this machine, in a file that may be deleted. */
export class KnownTimes {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** The line for the start of a run. `what` is the selection, in words. */
  text(what: string): string {
    const seconds = this.#read().get(what);
    if (seconds === undefined) return "How long this takes here is not known yet; the next run says it.";
    const shown = seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} minutes`;
    return `This took ${shown} here the last time.`;
  }

  remember(what: string, seconds: number): void {
    const known = this.#read();
    known.delete(what);
    known.set(what, seconds);
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, JSON.stringify([...known].slice(-MOST_KEPT)));
  }

  /** What can't be read is as if it were not there. */
  #read(): Map<string, number> {
    try {
      const pairs = JSON.parse(readFileSync(this.#file, "utf8")) as readonly (readonly [string, number])[];
      return new Map(pairs.filter(([what, seconds]) => typeof what === "string" && Number.isFinite(seconds)));
    } catch {
      return new Map();
    }
  }
}
