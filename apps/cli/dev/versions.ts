import { z } from "../../../core/contract/options.ts";

// What the two processes of `signalbox dev` tell each other: the supervisor, and the router that it runs.

const text = z.string();

/** A plugin's code as it was when a router was about to load it. */
const version = z.object({
  file: text.describe("The plugin's file, absolute."),
  saved: text.describe("A hash of the files as they are on the disk."),
  hash: text.describe("That of what is loaded: the same, or an earlier version's."),
  texts: z.array(z.tuple([text, text])).describe("What is saved, by path: the file, and what it imports by relative paths."),
});
export type Version = z.infer<typeof version>;

/** An earlier version that is loaded in the place of one that did not return, as long as the files are those. */
export interface StandIn {
  readonly file: string;
  readonly saved: string;
  readonly hash: string;
  /** Where it is. */
  readonly copy: string;
}

/** From the router: it loads a version, or a request has passed the plugins of its config. What else comes is from a plugin. */
export const NOTE = z.union([z.object({ loading: version }), z.object({ served: z.literal(true) })]);
export type Note = z.infer<typeof NOTE>;

/** The variable in which the router finds its stand-ins, as JSON; a process without it is no supervised one. */
export const STAND_INS = "SIGNALBOX_DEV_STAND_INS";

const MOST_SETS = 16;

/** Versions by file. */
type VersionSet = ReadonlyMap<string, Version>;

/** The versions of plugins that have run, in the order in which they served. */
export class KnownVersions {
  #loaded: Map<string, Version> = new Map();
  #good: readonly VersionSet[] = [];
  /** By hash: a version that stands in for another comes without its files. */
  readonly #texts = new Map<string, Version["texts"]>();

  /** Another router begins. */
  starting(): void {
    this.#loaded = new Map();
  }

  loading(version: Version): void {
    this.#loaded.set(version.file, version);
    if (version.saved === version.hash) this.#texts.set(version.hash, version.texts);
  }

  served(): void {
    this.#good = [...this.#good.filter((set) => !isSame(set, this.#loaded)), new Map(this.#loaded)].slice(-MOST_SETS);
    const hashes = new Set([...this.#good, this.#loaded].flatMap((set) => [...set.values()].map(({ hash }) => hash)));
    for (const hash of this.#texts.keys()) if (!hashes.has(hash)) this.#texts.delete(hash);
  }

  /** What was loaded last. */
  get loaded(): readonly Version[] {
    return [...this.#loaded.values()];
  }

  /**
   * What ran got stuck and is not gone back to. Returns what must stand in for which files, so that all plugins are as they were when
   * they served last; undefined if that was never.
   */
  goBack(): readonly Version[] | undefined {
    this.#good = this.#good.filter((set) => !isSame(set, this.#loaded));
    const last = this.#good.findLast((set) => this.loaded.every(({ file }) => set.has(file)));
    return last && this.loaded.flatMap((version) => this.#standIn(version, last.get(version.file)!));
  }

  #standIn({ file, saved }: Version, { hash }: Version): readonly Version[] {
    return saved === hash ? [] : [{ file, saved, hash, texts: this.#texts.get(hash) ?? [] }];
  }
}

function isSame(one: VersionSet, other: VersionSet): boolean {
  return one.size === other.size && [...one].every(([file, { hash }]) => other.get(file)?.hash === hash);
}
