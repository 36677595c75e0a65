import { stat } from "node:fs/promises";
import { configFilesAt } from "../../config/read/files.ts";
import type { Clock } from "../../core/contract/clock.ts";
import { Loop } from "../../core/control/readiness/loop.ts";

export interface FileWatchOptions {
  readonly clock: Clock;
  /** How often the files are looked at. */
  readonly lookMs: number;
  /** Files, and folders of config files. */
  readonly paths: readonly string[];
  /** A file has another content, a folder other files, and they are not being written any more. */
  readonly changed: () => void;
}

/** How often files are looked at, usually. */
export const LOOK_MS = 400;
/** Files that change at every look count as changed after this. */
const MOST_UNREST_MS = 1_000;

/**
 * Notices changes of files by looking at them again and again. That works alike on every runtime, file system and kind of
 * change: a file that is written, one that is renamed over it, a symbolic link that leads elsewhere, a folder that gains a file.
 * A change counts once two looks in a row have found the same, so that no half-written file is read.
 */
export class FileWatch {
  readonly #options: FileWatchOptions;
  readonly #looks: Loop;
  /** Further files that the config depends on. */
  #others: readonly string[] = [];
  /** What was found, by path, when the config was read last. */
  #known: ReadonlyMap<string, string> = new Map();
  #latest: ReadonlyMap<string, string> = new Map();
  #unrestSinceMs: number | undefined;

  constructor(options: FileWatchOptions) {
    this.#options = options;
    this.#looks = new Loop(options.clock, async () => {
      await this.look();
      return options.lookMs;
    });
  }

  start(): void {
    this.#looks.next(this.#options.lookMs);
  }

  stop(): void {
    this.#looks.stop();
  }

  /** The config is about to be read: what the files are now is known, and only what changes after it counts. */
  async reading(): Promise<void> {
    this.#known = await this.#found();
    this.#latest = this.#known;
    this.#unrestSinceMs = undefined;
  }

  /** The config was read, and depends on these files too. */
  async follow(files: Iterable<string>): Promise<void> {
    this.#others = [...files];
    const found = await this.#found();
    this.#known = new Map([...found, ...this.#known]);
  }

  /** One look at all files. */
  async look(): Promise<void> {
    const nowMs = this.#options.clock.now();
    const found = await this.#found();
    const isAtRest = isSame(found, this.#latest);
    this.#latest = found;
    if (isSame(found, this.#known)) {
      this.#unrestSinceMs = undefined;
      return;
    }
    this.#unrestSinceMs ??= nowMs;
    if (!isAtRest && nowMs - this.#unrestSinceMs < MOST_UNREST_MS) return;
    this.#known = found;
    this.#unrestSinceMs = undefined;
    this.#options.changed();
  }

  async #found(): Promise<ReadonlyMap<string, string>> {
    const paths = [...this.#options.paths, ...this.#others];
    return new Map(await Promise.all(paths.map(async (path) => [path, await markOf(path)] as const)));
  }
}

/** Whether the paths that are in both are as they were. */
function isSame(found: ReadonlyMap<string, string>, known: ReadonlyMap<string, string>): boolean {
  return [...found].every(([path, mark]) => (known.get(path) ?? mark) === mark);
}

/** Another text whenever the file, or one of the folder's files, is another one or has another content. */
async function markOf(path: string): Promise<string> {
  const files = await configFilesAt(path).catch(() => [path]);
  return (await Promise.all(files.map(markOfFile))).join("\n");
}

async function markOfFile(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [path, dev, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch {
    return `${path} is not there`;
  }
}
