import type { LoadedConfig, RefusedConfig } from "../../../../config/load.ts";
import type { ReloadCause } from "../../../../config/running/reload-cause.ts";
import type { Clock } from "../../../../core/contract/clock.ts";
import { afterAwake } from "../../../../core/contract/standstill.ts";
import { thrownMessage } from "../../../../core/contract/thrown-text.ts";
import type { ToWorker } from "./messages.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** Less than a worker waits for its files. */
const LONGEST_MS = 25_000;

export interface RoundOptions {
  readonly clock: Clock;
  /** Reads and checks the files as they are now. */
  load(): Promise<LoadedConfig | RefusedConfig>;
  serving(): readonly WorkerProcess[];
  /** All workers take it; `takers` were asked and do so by themselves. */
  taken(loaded: LoadedConfig, takers: ReadonlySet<WorkerProcess>): void;
  /** It runs what all the others have refused. */
  strayed(worker: WorkerProcess): void;
}

type Files = Extract<ToWorker, { kind: "files" }>;

/** One reading of the files by all workers. */
interface Round {
  readonly number: number;
  /** Those that have not said yet whether they can take them. */
  readonly missing: Set<WorkerProcess>;
  readonly all: Set<WorkerProcess>;
  /** Those that wait for the files. */
  readonly waiting: Set<WorkerProcess>;
  files: Files | undefined;
  loaded: LoadedConfig | undefined;
  refusal: string;
  /** The first to take them, while the others wait for what comes of it. */
  trying: WorkerProcess | undefined;
  readonly over: Promise<void>;
  end(): void;
}

/**
 * Lets all workers take the files together, or none. Each checks them first. When all of them can, the first one takes them: a plugin may
 * still fail to be made. What came of that decides for the others.
 */
export class ReloadRounds {
  readonly #options: RoundOptions;
  /** Each was to take the files first, and had not in time: they were refused. */
  readonly #late = new Set<WorkerProcess>();
  #rounds = 0;
  #round: Round | undefined;
  /** Asked for while a round was under way. */
  #next: { cause: ReloadCause; done: Promise<void>; begin: () => void } | undefined;

  constructor(options: RoundOptions) {
    this.#options = options;
  }

  /** Reads the files again. Resolves when it is over, however it ended. */
  reload(cause: ReloadCause): Promise<void> {
    if (this.#round === undefined) return this.#begin(cause, undefined);
    if (this.#next === undefined) {
      let begin = () => {};
      const done = new Promise<void>((resolve) => {
        begin = () => void this.#begin(cause, undefined).then(resolve);
      });
      this.#next = { cause, done, begin };
    }
    return this.#next.done;
  }

  /** A worker wants the files: it was told to, or asked by its admin API. */
  wanted(worker: WorkerProcess): void {
    const round = this.#round;
    if (round === undefined) return void this.#begin("api", worker);
    if (!round.all.has(worker)) round.all.add(worker);
    round.missing.add(worker);
    if (round.files === undefined) round.waiting.add(worker);
    else this.#hand(worker, round);
  }

  voted(worker: WorkerProcess, number: number, refusal: string): void {
    const round = this.#round;
    // It is late: its round is over.
    if (round?.number !== number) return worker.send({ kind: "verdict", refusal: "the other workers did not wait for this one" });
    round.missing.delete(worker);
    if (refusal !== "" && round.refusal === "") round.refusal = `worker ${worker.worker} can't take it: ${refusal}`;
    this.#look(round);
  }

  /** It runs them now, or why not. Returns whether this worker alone could not take them. */
  taken(worker: WorkerProcess, refusal: string): boolean {
    if (this.#late.delete(worker)) {
      if (refusal === "") this.#options.strayed(worker);
      return false;
    }
    const round = this.#round;
    if (round?.trying !== worker) return refusal !== "";
    round.refusal = refusal;
    this.#finish(round);
    return false;
  }

  ended(worker: WorkerProcess): void {
    this.#late.delete(worker);
    const round = this.#round;
    if (round === undefined) return;
    for (const set of [round.missing, round.all, round.waiting]) set.delete(worker);
    if (round.trying === worker) {
      round.refusal = `worker ${worker.worker} ended when it took them`;
      this.#finish(round);
    } else this.#look(round);
  }

  #begin(cause: ReloadCause, asker: WorkerProcess | undefined): Promise<void> {
    const serving = this.#options.serving();
    let end = () => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#rounds += 1;
    const round: Round = {
      number: this.#rounds,
      ...{ missing: new Set(serving), all: new Set(serving), waiting: new Set(asker ? [asker] : []) },
      ...{ files: undefined, loaded: undefined, refusal: "", trying: undefined, over, end },
    };
    this.#round = round;
    for (const each of serving) if (each !== asker) each.send({ kind: "reload", cause, by: "" });
    const cancel = afterAwake(this.#options.clock, LONGEST_MS, () => this.#tooLate(round));
    void over.then(cancel);
    void this.#read(round);
    return over;
  }

  async #read(round: Round): Promise<void> {
    try {
      const loaded = await this.#options.load();
      const problems = loaded.problems ?? [];
      if (loaded.problems === undefined) round.loaded = loaded;
      round.files = { kind: "files", round: round.number, texts: round.loaded?.texts ?? [], problems };
    } catch (thrown) {
      const problem = { file: "the config", line: 0, column: 0, path: "", found: thrownMessage(thrown), wanted: "", hint: "" };
      round.files = { kind: "files", round: round.number, texts: [], problems: [problem] };
    }
    for (const worker of round.waiting) this.#hand(worker, round);
    round.waiting.clear();
    this.#look(round);
  }

  #hand(worker: WorkerProcess, round: Round): void {
    if (round.files === undefined) return;
    worker.send(round.files);
    // It refuses what has problems by itself.
    if (round.loaded === undefined) {
      round.missing.delete(worker);
      this.#look(round);
    }
  }

  #look(round: Round): void {
    if (round !== this.#round || round.files === undefined || round.missing.size > 0 || round.trying !== undefined) return;
    const [first] = round.all;
    if (round.loaded === undefined || round.refusal !== "" || first === undefined) return this.#finish(round);
    round.trying = first;
    first.send({ kind: "verdict", refusal: "" });
  }

  #tooLate(round: Round): void {
    if (round !== this.#round) return;
    const late = round.trying === undefined ? [...round.missing] : [round.trying];
    if (round.trying !== undefined) this.#late.add(round.trying);
    const names = late.map(({ worker }) => worker).join(", ");
    round.refusal ||= `worker ${names} did not say in time whether it can take the files`;
    this.#finish(round);
  }

  #finish(round: Round): void {
    this.#round = undefined;
    const { loaded, refusal, all, trying } = round;
    if (loaded !== undefined && refusal === "") this.#options.taken(loaded, all);
    if (loaded !== undefined) for (const each of all) if (each !== trying) each.send({ kind: "verdict", refusal });
    round.end();
    const next = this.#next;
    this.#next = undefined;
    next?.begin();
  }
}
