import type { Clock } from "../../core/contract/clock.ts";
import type { Log } from "../../core/contract/log.ts";
import { afterAwake } from "../../core/contract/standstill.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";
import type { LoadedConfig, RefusedConfig } from "../load.ts";
import type { ConfigText } from "../read/files.ts";
import { formatProblem } from "../read/problems.ts";
import { NO_OVERLAY, type Overlay } from "../rewrites/overlay.ts";
import { upToDate } from "../rewrites/resources.ts";
import { changesBetween, fixedChanges } from "../show/changes.ts";
import type { ChangeResult } from "./changeable-config.ts";
import { ConfigHistory, type ConfigParts, haveSameFiles } from "./config-history.ts";
import type { ReloadCause } from "./reload-cause.ts";

/** Makes the next overlay from the one that runs. Throws an Error that says what to change if the edit is impossible. */
export type OverlayEdit = (overlay: Overlay) => Overlay;

/** What the next config is made of. */
interface Plan {
  readonly overlay: Overlay;
  /** Its texts, and the plugins' modules that run; undefined for the files as they are now. */
  readonly base: LoadedConfig | undefined;
  /** The earlier generation whose texts these are; undefined for those of the files. */
  readonly restored: number | undefined;
}

/** How an attempt to change the config ended, with when and why it was made. */
export interface ReloadReport extends ChangeResult {
  /** Milliseconds since 1970. */
  readonly atMs: number;
  readonly cause: ReloadCause;
  /** Of the config that runs after it. */
  readonly generation: number;
  /** What is different now, in words, each on one line; empty when nothing is, or it was refused. */
  readonly changes: readonly string[];
}

export interface RunningConfigOptions {
  /** What runs now. */
  readonly loaded: LoadedConfig;
  /** Loads a config with an overlay: from the files as they are now, or over the texts and modules of one that runs. */
  readonly load: (overlay: Overlay, base: LoadedConfig | undefined) => Promise<LoadedConfig | RefusedConfig>;
  /** Builds it and lets it run instead, in one step. Throws an Error, and changes nothing, if it can't be built. */
  readonly publish: (next: LoadedConfig) => void;
  /** Is told how each attempt ended. */
  readonly reported?: (report: ReloadReport) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long loading may take: a plugin's module may wait for something that never comes. */
const LOAD_MS = 30_000;
/** How long once a newer state of the files waits for it. */
const OVERTAKEN_MS = 1_000;
/** So many problems are logged one by one. */
const MOST_LOGGED = 10;

/**
 * The config that runs, and how it is replaced. Reloads of the files are made one at a time, and so are changes beside them; overlapping
 * reloads coalesce to the newest. Neither waits for the other: a plugin's file that never finishes loading must not keep an operator from
 * turning a weight back. The next config runs whole or not at all: while anything in it is wrong, the one before goes on.
 */
export class RunningConfig {
  /** 1 at the start, and one more with each config that was published since. */
  generation = 1;
  /** What runs, overlay included. */
  loaded: LoadedConfig;
  /** What was changed beside the files; part of what runs. */
  overlay: Overlay = NO_OVERLAY;
  /** The latest attempt; undefined before the first. */
  lastReload: ReloadReport | undefined;
  /** When the last attempt succeeded, in milliseconds since 1970; the start counts as one. */
  confirmedAtMs: number;
  /** Attempts so far, by how they ended; unchanged: nothing in the config was different. */
  readonly reloads = { applied: 0, unchanged: 0, refused: 0 };
  /** The generations so far, the one that runs included. */
  readonly history = new ConfigHistory();
  /** The earlier generation whose texts run instead of the files'; undefined where the files' run. */
  restored: number | undefined;
  /** The files' texts as they were read last; what runs, unless an earlier generation does. */
  fileTexts: readonly ConfigText[];
  readonly #options: RunningConfigOptions;
  #isClosed = false;
  /** The ends of the reloads and of the changes under way; they never reject. */
  #lastReload: Promise<unknown> = Promise.resolve();
  #lastChange: Promise<unknown> = Promise.resolve();
  /** While files are loaded: gives that up soon. */
  #overtake = () => {};
  /** A reload that has not begun: whoever asks now gets this one, since it has yet to read the files. */
  #waiting: Promise<ReloadReport> | undefined;
  /** The same for resources. */
  #following: Promise<ReloadReport> | undefined;

  constructor(options: RunningConfigOptions) {
    this.#options = options;
    this.loaded = options.loaded;
    this.fileTexts = options.loaded.texts;
    this.confirmedAtMs = options.clock.wall();
    const parts = { texts: this.loaded.texts, overlay: this.overlay, restored: undefined };
    this.history.add({ generation: 1, atMs: this.confirmedAtMs, cause: "start", by: "", changes: [], ...parts });
  }

  /** Reads the files again; `by` is who asked. Never rejects. */
  reload(cause: ReloadCause, by = ""): Promise<ReloadReport> {
    if (this.#waiting === undefined) {
      this.#overtake();
      this.#waiting = this.#lastReload.then(() => {
        this.#waiting = undefined;
        return this.#replace(() => ({ overlay: this.overlay, base: undefined, restored: undefined }), cause, by);
      });
      this.#lastReload = this.#waiting;
    }
    return this.#waiting;
  }

  /**
   * A cluster's resources are others: `load` knows them. Over the files' texts and the plugins that run, so that a broken file is no
   * obstacle. Never rejects.
   */
  follow(): Promise<ReloadReport> {
    this.#following ??= this.#enqueue(() => {
      this.#following = undefined;
      return this.#replace(() => this.#edited(this.overlay), "cluster", "");
    });
    return this.#following;
  }

  /**
   * Edits the overlay over the files' texts and the plugins that run, so that a file which is broken just now is no obstacle. Nothing
   * stays edited when it is refused. Never rejects: what `edit` throws is a problem of the report.
   */
  change(edit: OverlayEdit, cause: ReloadCause, by = ""): Promise<ReloadReport> {
    return this.#enqueue(() => this.#replace(() => this.#edited(edit(this.overlay)), cause, by));
  }

  /**
   * Lets an earlier generation run again, until the files are read: its texts, and its changes beside them whose time is not over. `choose` is
   * called when it is this change's turn. Never rejects: what `choose` throws is a problem of the report.
   */
  restore(choose: () => ConfigParts & { readonly generation: number }, by: string): Promise<ReloadReport> {
    const plan = (): Plan => {
      const { texts, overlay, generation } = choose();
      const nowMs = this.#options.clock.wall();
      const rewrites = overlay.rewrites.filter(({ untilMs }) => untilMs === undefined || untilMs > nowMs);
      const restored = generation === this.generation ? this.restored : generation;
      return { overlay: { ...overlay, rewrites }, base: { ...this.loaded, texts }, restored };
    };
    return this.#enqueue(() => this.#replace(plan, "rollback", by));
  }

  /** The router stops: what runs now stays, and every further change is refused. */
  close(): void {
    this.#isClosed = true;
  }

  #enqueue(run: () => Promise<ReloadReport>): Promise<ReloadReport> {
    const ended = this.#lastChange.then(run);
    this.#lastChange = ended;
    return ended;
  }

  /** What runs, with another overlay. */
  #edited(overlay: Overlay): Plan {
    return { overlay, base: this.loaded, restored: this.restored };
  }

  async #replace(plan: () => Plan, cause: ReloadCause, by: string): Promise<ReloadReport> {
    try {
      let before: LoadedConfig;
      let planned: Plan;
      let next: LoadedConfig | RefusedConfig;
      do {
        before = this.loaded;
        planned = plan();
        next = await this.#load(planned);
        if (this.#isClosed) throw new Error("The router is stopping, so its config stays as it is");
        // Something else runs since: what was loaded lacks it.
      } while (this.loaded !== before);
      const { overlay, base, restored } = planned;
      const problems = next.problems ?? fixedChanges(this.loaded, next);
      if (next.config === undefined || problems.length > 0) return this.#ended(cause, problems.map(formatProblem), []);
      const changes = changesBetween(this.loaded, next);
      if (changes.length > 0) {
        this.#options.publish(next);
        this.generation += 1;
      }
      this.loaded = next;
      this.overlay = upToDate(overlay, next.texts);
      if (base === undefined) this.fileTexts = next.texts;
      this.restored = haveSameFiles(next.texts, this.fileTexts) ? undefined : restored;
      this.#remember(cause, by, changes, restored);
      return this.#ended(cause, [], changes);
    } catch (thrown) {
      return this.#ended(cause, [thrownMessage(thrown)], []);
    }
  }

  #remember(cause: ReloadCause, by: string, changes: readonly string[], from: number | undefined): void {
    const parts = { texts: this.loaded.texts, overlay: this.overlay };
    if (changes.length === 0) return this.history.refresh(parts);
    const restored = cause === "rollback" ? from : undefined;
    this.history.add({ generation: this.generation, atMs: this.#options.clock.wall(), cause, by, changes, restored, ...parts });
  }

  async #load({ overlay, base }: Plan): Promise<LoadedConfig | RefusedConfig> {
    const { load, clock } = this.#options;
    const cancels: (() => void)[] = [];
    const isOfFiles = base === undefined;
    try {
      return await new Promise((resolve, reject) => {
        const giveUpAfter = (ms: number) => cancels.push(afterAwake(clock, ms, () => reject(new Error(tooSlow(ms)))));
        giveUpAfter(LOAD_MS);
        if (isOfFiles) this.#overtake = () => void giveUpAfter(OVERTAKEN_MS);
        load(overlay, base).then(resolve, reject);
      });
    } finally {
      for (const cancel of cancels) cancel();
      if (isOfFiles) this.#overtake = () => {};
    }
  }

  #ended(cause: ReloadCause, problems: readonly string[], changes: readonly string[]): ReloadReport {
    const { clock, log } = this.#options;
    const isApplied = problems.length === 0;
    const report = { atMs: clock.wall(), cause, isApplied, generation: this.generation, problems, changes };
    this.lastReload = report;
    this.#options.reported?.(report);
    this.reloads[!isApplied ? "refused" : changes.length > 0 ? "applied" : "unchanged"] += 1;
    if (isApplied) this.confirmedAtMs = report.atMs;
    if (!isApplied) logRefusal(report, log);
    else if (changes.length > 0)
      log.info("The config was replaced", { cause, generation: report.generation, ...counted(changes) });
    else log.info("The config was read again: nothing in it is different", { cause });
    return report;
  }
}

const tooSlow = (ms: number) =>
  `The config did not load within ${ms / 1000} s${ms === LOAD_MS ? "" : ", and newer files wait"}: a plugin's module may wait for something at its top level`;

function logRefusal({ cause, generation, problems }: ReloadReport, log: Log): void {
  log.error("The config was not replaced: the one before runs on", { cause, generation, problems: problems.length });
  for (const problem of problems.slice(0, MOST_LOGGED)) log.error(problem);
}

function counted(changes: readonly string[]) {
  return { changes: changes.slice(0, MOST_LOGGED).join("; ") };
}
