import type { ReloadCause } from "../../../../config/running/reload-cause.ts";
import type { Clock } from "../../../../core/contract/clock.ts";
import type { Log } from "../../../../core/contract/log.ts";
import type { Outputs } from "../outputs.ts";
import { endWorkers } from "./end-workers.ts";
import type { Forker } from "./fork.ts";
import { Joins } from "./joins.ts";
import type { Begin, FromWorker, SharedState } from "./messages.ts";
import { type Facts, WorkerProcess } from "./worker-process.ts";

/** One that ended sooner after its start than this is started again later each time. */
const STEADY_MS = 10_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 30_000;
/** How often it is looked whether each still answers. */
const LOOK_MS = 1_000;

export interface GroupOptions {
  readonly count: number;
  readonly forker: Forker;
  readonly begin: Omit<Begin, "kind" | "count" | "state" | "isPortShared">;
  readonly state: SharedState;
  readonly outputs: Outputs;
  readonly clock: Clock;
}

/** Who hears what workers say of the files, and which workers there are. */
export interface GroupListener {
  wanted(worker: WorkerProcess): void;
  voted(worker: WorkerProcess, round: number, refusal: string): void;
  /** Returns whether this worker alone could not take what runs elsewhere. */
  taken(worker: WorkerProcess, refusal: string): boolean;
  /** It serves. */
  started(worker: WorkerProcess): void;
  ended(worker: WorkerProcess): void;
  /** One does not answer any more, or does again. */
  turned(): void;
}

/** A worker's place: who is in it changes. */
interface Place {
  process: WorkerProcess | undefined;
  /** How often one was started again. */
  restarts: number;
  waitMs: number;
  /** Of the config that its worker began with. */
  version: number;
  lastEnd: string;
}

/** The workers of a program: keeps so many running, passes on what they tell each other, and hands them the config. */
export class WorkerGroup {
  readonly #options: GroupOptions;
  readonly #log: Log;
  readonly #places: readonly Place[];
  readonly #waits = new Set<() => void>();
  #state: SharedState;
  #version = 0;
  readonly #joins = new Joins();
  /** Of the worker that has ended last. */
  #lastWords: Facts | undefined;
  #isStopping = false;
  #firstEnd: ((code: number) => void) | undefined;
  #moved: () => void = () => {};
  listener: GroupListener | undefined;

  constructor(options: GroupOptions) {
    this.#options = options;
    this.#log = options.outputs.log;
    this.#state = options.state;
    const place = (): Place => ({ process: undefined, restarts: 0, waitMs: 0, version: 0, lastEnd: "" });
    this.#places = Array.from({ length: options.count }, place);
  }

  /** The workers that serve, the one that was started first in front. */
  get serving(): readonly WorkerProcess[] {
    return this.#places.flatMap(({ process }) => (process?.isStarted && !process.isOver ? [process] : []));
  }

  /** Those of them that still answer. */
  get answering(): readonly WorkerProcess[] {
    return this.serving.filter(({ isSilent }) => !isSilent);
  }

  /** What is shown of each of them. */
  get shown() {
    return this.#places.map(({ process, restarts, lastEnd }, index) => ({
      worker: index + 1,
      pid: process?.pid ?? null,
      state: stateOf(process),
      restarts,
      lastEnd,
    }));
  }

  /** Starts all of them. Resolves once they serve, or as soon as one of them can't be started: to its exit code. */
  async start(): Promise<number> {
    const failed = new Promise<number>((resolve) => {
      this.#firstEnd = resolve;
    });
    const serves = new Promise<number>((resolve) => {
      this.#moved = () => {
        if (this.serving.length === this.#places.length) resolve(0);
      };
    });
    for (const place of this.#places) this.#fork(place);
    this.#options.clock.every(LOOK_MS, () => {
      for (const each of this.serving) each.look();
    });
    const code = await Promise.race([failed, serves]);
    this.#firstEnd = undefined;
    this.#moved = () => {};
    return code;
  }

  /** These texts run from now on: the takers have them, and the others that serve are told. */
  tookTexts(texts: SharedState["texts"], takers: ReadonlySet<WorkerProcess>): void {
    this.#changed({ ...this.#state, texts });
    for (const each of this.serving) if (!takers.has(each)) this.restore(each);
  }

  /** It is to run what the others do. */
  restore(process: WorkerProcess): void {
    process.send({ kind: "state", state: this.#state, cause: "files", by: "" });
  }

  /** All that serve have it, or are told. */
  #changed(state: SharedState): void {
    this.#state = state;
    this.#version += 1;
    for (const place of this.#places) if (place.process?.isStarted) place.version = this.#version;
  }

  /** Passes a signal on to all of them, and starts none again. Resolves when all have ended, which they are made to after `mostMs`. */
  async stop(signal: NodeJS.Signals, mostMs: number): Promise<void> {
    this.#isStopping = true;
    for (const cancel of this.#waits) cancel();
    const all = this.#alive;
    if (all.length === 0) return;
    const ended = new Promise<void>((resolve) => {
      this.#moved = () => {
        if (this.#places.every(({ process }) => process === undefined)) resolve();
      };
    });
    await endWorkers(all, signal, mostMs, ended, this.#options.clock, this.#log);
  }

  /** At once, when this process ends. */
  killAll(): void {
    for (const { process } of this.#places) process?.kill("SIGKILL");
  }

  #fork(place: Place): void {
    const { forker, outputs, clock } = this.#options;
    const worker = this.#places.indexOf(place) + 1;
    const events = {
      received: (message: FromWorker, process: WorkerProcess) => this.#received(message, process, place),
      turned: (process: WorkerProcess) => this.#turned(process),
      exited: (process: WorkerProcess, how: string, code: number) => this.#exited(process, place, how, code),
    };
    place.process = new WorkerProcess(worker, forker.fork(worker), clock.now(), outputs, events);
  }

  #turned(process: WorkerProcess): void {
    const fields = { worker: process.worker, pid: process.pid ?? 0 };
    if (process.isSilent) this.#log.warn("A worker does not answer: the admin port leaves it out, its connections wait", fields);
    else this.#log.info("A worker answers again", fields);
    this.listener?.turned();
  }

  #exited(process: WorkerProcess, place: Place, how: string, code: number): void {
    const { clock } = this.#options;
    place.process = undefined;
    place.lastEnd = how;
    this.#joins.ended(process);
    if (process.lastWords !== undefined) this.#passOn(process.lastWords, process);
    this.#lastWords = process.lastWords ?? this.#lastWords;
    this.listener?.ended(process);
    this.#moved();
    if (this.#isStopping) return;
    if (this.#firstEnd !== undefined) return this.#firstEnd(code || 1);
    const isSteady = process.isStarted && clock.now() - process.startedAtMs >= STEADY_MS;
    place.waitMs = isSteady ? 0 : Math.min(LONGEST_WAIT_MS, place.waitMs === 0 ? FIRST_WAIT_MS : 2 * place.waitMs);
    place.restarts += 1;
    const { worker, pid } = process;
    this.#log.warn("A worker has ended, and its connections with it: it is started again", {
      ...{ worker, pid: pid ?? 0, how, inMs: place.waitMs },
    });
    const cancel = clock.after(place.waitMs, () => {
      this.#waits.delete(cancel);
      this.#fork(place);
    });
    this.#waits.add(cancel);
  }

  get #alive(): readonly WorkerProcess[] {
    return this.#places.flatMap(({ process }) => process ?? []);
  }

  /** To all others, also to one that does not serve yet. */
  #passOn(facts: Facts, from: WorkerProcess): void {
    for (const each of this.#alive) if (each !== from && each.hasBegun) each.offer(facts, facts.message.length);
  }

  #received(message: FromWorker, process: WorkerProcess, place: Place): void {
    switch (message.kind) {
      case "hello":
        return this.#begin(process, place);
      case "started":
        process.isStarted = true;
        process.greeting = message.greeting;
        // What changed while it began.
        if (place.version !== this.#version) this.restore(process);
        place.version = this.#version;
        this.listener?.started(process);
        return this.#moved();
      case "facts":
        this.#passOn(message, process);
        return process.send({ kind: "echo" });
      case "lastWords":
        process.lastWords = { ...message, kind: "facts" };
        return;
      case "join":
        return this.#joins.came(process, this.#alive, this.#lastWords);
      case "mark":
        return this.#joins.marked(process, message.comer);
      case "want":
        return this.listener?.wanted(process);
      case "vote":
        return this.listener?.voted(process, message.round, message.refusal);
      case "taken":
        if (this.listener?.taken(process, message.refusal)) this.#restart(process, message.refusal);
        return;
      case "astray":
        return this.#restart(process, message.why);
      case "state":
        return this.#shareState(message.state, message.cause, message.by);
    }
  }

  /** It finishes what is under way. */
  #restart(process: WorkerProcess, why: string): void {
    const { worker } = process;
    this.#log.error("A worker could not take the config that the others run: it is started again", { worker, why });
    process.kill("SIGTERM");
  }

  #begin(process: WorkerProcess, place: Place): void {
    const { begin, count, forker } = this.#options;
    place.version = this.#version;
    process.hasBegun = true;
    process.send({ kind: "begin", ...begin, count, isPortShared: forker.isPortShared, state: this.#state });
  }

  /** To all, also to whom it came from: so all get several changes in the same order. */
  #shareState(state: SharedState, cause: ReloadCause, by: string): void {
    this.#changed(state);
    for (const each of this.serving) each.send({ kind: "state", state, cause, by });
  }
}

function stateOf(process: WorkerProcess | undefined): string {
  if (process === undefined) return "waiting";
  if (!process.isStarted) return "starting";
  return process.isSilent ? "silent" : "serving";
}
