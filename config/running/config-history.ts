import type { ConfigText } from "../read/files.ts";
import type { Overlay } from "../rewrites/overlay.ts";
import type { ReloadCause } from "./reload-cause.ts";

/** What a config is made of: the texts, and what was changed beside them. */
export interface ConfigParts {
  readonly texts: readonly ConfigText[];
  readonly overlay: Overlay;
}

/** A generation of the config: how it came, and what it was made of. */
export interface Generation extends ConfigParts {
  readonly generation: number;
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly cause: ReloadCause | "start";
  /** Who asked for it; "" where no person did. */
  readonly by: string;
  /** What it changed, in words, each on one line. */
  readonly changes: readonly string[];
  /** The earlier generation that it is made of; undefined for one of its own. */
  readonly restored: number | undefined;
}

const MOST_GENERATIONS = 20;
/** Of all texts together. The newest generation is kept, however long. */
const MOST_BYTES = 8 * 1024 * 1024;
const MOST_CHANGES = 20;
/** A rule with many targets is a long line. */
const LONGEST_CHANGE = 500;

/** The last generations of the config, so that an earlier one can run again. They are in memory alone. */
export class ConfigHistory {
  #generations: readonly Generation[] = [];

  /** Oldest first. */
  get generations(): readonly Generation[] {
    return this.#generations;
  }

  /** There is one from the first `add` on. */
  get newest(): Generation {
    return this.#generations.at(-1)!;
  }

  find(generation: number): Generation | undefined {
    return this.#generations.find((each) => each.generation === generation);
  }

  add(next: Generation): void {
    this.#keep([...this.#generations, { ...next, changes: shortened(next.changes), texts: shared(next.texts, this.newest) }]);
  }

  /** The newest one runs as before, but is made of these: a comment in a file is another. */
  refresh({ texts, overlay }: ConfigParts): void {
    const { newest } = this;
    this.#keep([...this.#generations.slice(0, -1), { ...newest, texts: shared(texts, newest), overlay }]);
  }

  #keep(all: readonly Generation[]): void {
    let kept = all.slice(-MOST_GENERATIONS);
    while (kept.length > 1 && bytesOf(kept) > MOST_BYTES) kept = kept.slice(1);
    this.#generations = kept;
  }
}

/** The texts, with those that the generation before has too as its own: a file that stays as it is is in memory once. */
function shared(texts: readonly ConfigText[], before: ConfigParts | undefined): readonly ConfigText[] {
  return texts.map((each) => {
    const own = before?.texts.find(({ file }) => file === each.file);
    return own !== undefined && own.resource === undefined && each.resource === undefined && own.text === each.text ? own : each;
  });
}

/** Whether files say the same in both; what a cluster says does not count. */
export function haveSameFiles(some: readonly ConfigText[], others: readonly ConfigText[]): boolean {
  const [one, other] = [some, others].map((texts) => texts.filter(({ resource }) => resource === undefined));
  return (
    one!.length === other!.length &&
    one!.every(({ file, text }, index) => file === other![index]!.file && text === other![index]!.text)
  );
}

function bytesOf(generations: readonly Generation[]): number {
  const texts = new Set(generations.flatMap((each) => each.texts));
  const changes = new Set(generations.flatMap(({ overlay }) => overlay.rewrites));
  const lengths = [...texts].map(({ text, resource }) => (resource === undefined ? text.length : lengthOf(resource)));
  return [...lengths, ...[...changes].map(lengthOf)].reduce((sum, length) => sum + length, 0);
}

const lengthOf = (value: unknown) => JSON.stringify(value).length;

function shortened(changes: readonly string[]): readonly string[] {
  const lines = changes
    .slice(0, MOST_CHANGES)
    .map((line) => (line.length > LONGEST_CHANGE ? `${line.slice(0, LONGEST_CHANGE - 1)}…` : line));
  return changes.length <= MOST_CHANGES ? lines : [...lines, `and ${changes.length - MOST_CHANGES} more`];
}
