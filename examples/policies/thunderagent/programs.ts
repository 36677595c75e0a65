import { defineKind, type Endpoint, type PluginHost, z } from "signalbox/plugin";

const options = z.strictObject({
  header: z.string().min(1).default("x-session-id").describe("The request header that names the program."),
  cacheTokens: z
    .int()
    .min(1)
    .default(524_288)
    .describe("Tokens that a replica's KV cache holds. ThunderAgent reads it from vLLM."),
  halfLifeMs: z
    .number()
    .min(1)
    .default(1_000)
    .describe("An acting program's tokens count half after so long, when others resume."),
  maxWaitMs: z.int().min(1).default(1_800_000).describe("Who has waited so long goes on, whatever the caches hold."),
  releaseMs: z
    .int()
    .min(1)
    .default(300_000)
    .describe("A program without a turn for so long has ended. ThunderAgent's clients say so."),
});

const MOST_PROGRAMS = 10_000;
/** Kept free for each program's output. */
const BUFFER_TOKENS = 100;

type Waiter = { readonly sinceMs: number; readonly goOn: () => void };

/** One agent's conversation. */
export interface Program {
  /** Of its last prompt, and of the response to it. */
  tokens: number;
  steps: number;
  /** Turns that have come and not ended: it is reasoning; none: it is acting. */
  turns: number;
  actingSinceMs: number;
  /** The replica where it is active. */
  place: string | undefined;
  isPaused: boolean;
  /** It is paused when its turn ends. */
  isMarked: boolean;
  readonly waiters: Set<Waiter>;
}

/**
 * ThunderAgent's scheduler (arXiv 2602.13692; wiki/Scheduler.md of its repository). A program is active at one replica, or paused. Where
 * active programs hold more than the cache does, acting ones are paused, the smallest first, then reasoning ones when their turn ends.
 * Paused ones are resumed by best fit decreasing; then an acting program's claim has halved with each half-life. Left out: tokens that
 * programs share, which ThunderAgent reads from vLLM's metrics.
 */
export class Programs {
  readonly header: string;
  readonly #options: z.infer<typeof options>;
  readonly #programs: Map<string, Program>;
  #places: readonly string[] = [];

  constructor(asked: z.infer<typeof options>, programs: Map<string, Program>) {
    this.header = asked.header;
    this.#options = asked;
    this.#programs = programs;
  }

  placeOf(id: string): string | undefined {
    return this.#programs.get(id)?.place;
  }

  /** A turn of the program has come. It waits if the program is paused then. Undefined: too many programs are known. */
  arrive(id: string, tokens: number, nowMs: number): Program | undefined {
    let program = this.#programs.get(id);
    if (program === undefined) {
      if (this.#programs.size >= MOST_PROGRAMS) return undefined;
      const state = { place: undefined, isPaused: false, isMarked: false, waiters: new Set<Waiter>() };
      program = { tokens, steps: 0, turns: 0, actingSinceMs: nowMs, ...state };
      this.#programs.set(id, program);
    }
    program.steps += 1;
    program.tokens = tokens;
    if (!program.isPaused && program.place === undefined && this.#places.length > 0) this.#begin(program, nowMs);
    program.turns += 1;
    return program;
  }

  /** `tokens`: of the prompt and the output. */
  ended(program: Program, tokens: number, nowMs: number): void {
    program.turns -= 1;
    program.tokens = tokens;
    program.actingSinceMs = nowMs;
    if (program.turns === 0 && program.isMarked) this.#pause(program);
  }

  follow(endpoints: readonly Endpoint[]): void {
    this.#places = endpoints.filter(({ isAvailable }) => isAvailable).map(({ name }) => name);
    for (const program of this.#programs.values()) {
      if (program.place !== undefined && !this.#places.includes(program.place)) program.place = undefined;
      // Nothing can be resumed: its turns fare as requests that nobody holds.
      if (this.#places.length === 0) this.#resume(program, undefined);
    }
  }

  /** Every five seconds. */
  check(nowMs: number): void {
    const { releaseMs, maxWaitMs } = this.#options;
    for (const [id, program] of this.#programs) {
      if (program.turns === 0 && nowMs - program.actingSinceMs >= releaseMs) this.#programs.delete(id);
      const [first] = program.waiters;
      if (first === undefined || nowMs - first.sinceMs < maxWaitMs) continue;
      this.#resume(program, this.#places.toSorted((one, other) => this.#at(one).length - this.#at(other).length)[0]);
    }
    this.#resumeWhatFits(nowMs);
    for (const place of this.#places) this.#pauseUntilSafe(place, nowMs);
  }

  /** Where most is free, if nobody is paused and it fits. */
  #begin(program: Program, nowMs: number): void {
    const isFree = [...this.#programs.values()].every(({ isPaused }) => !isPaused);
    const [most] = this.#room(nowMs, Number.POSITIVE_INFINITY);
    if (isFree && most!.room >= program.tokens + BUFFER_TOKENS) program.place = most!.place;
    else program.isPaused = true;
  }

  #resumeWhatFits(nowMs: number): void {
    const room = this.#room(nowMs, this.#options.halfLifeMs).filter((each) => each.room > BUFFER_TOKENS);
    let total = room.reduce((sum, each) => sum + each.room, 0);
    const chosen: Program[] = [];
    for (const program of [...this.#programs.values()].filter(({ isPaused }) => isPaused).sort(byTurn)) {
      if (program.tokens + BUFFER_TOKENS > total) continue;
      chosen.push(program);
      total -= program.tokens + BUFFER_TOKENS;
    }
    for (const program of chosen.sort((one, other) => other.tokens - one.tokens)) {
      const [most] = room.sort((one, other) => other.room - one.room);
      if (program.tokens + BUFFER_TOKENS > most!.room) continue;
      most!.room -= program.tokens + BUFFER_TOKENS;
      this.#resume(program, most!.place);
    }
  }

  #pauseUntilSafe(place: string, nowMs: number): void {
    // Marked ones count as gone.
    const here = this.#at(place).filter(({ isMarked }) => !isMarked);
    let free = this.#free(here, nowMs, Number.POSITIVE_INFINITY);
    const leaving = here.sort((one, other) => Math.sign(one.turns) - Math.sign(other.turns) || one.tokens - other.tokens);
    for (const program of leaving) {
      if (free >= 0) return;
      free += program.tokens + BUFFER_TOKENS;
      if (program.turns === 0) this.#pause(program);
      else program.isMarked = true;
    }
  }

  /** By replica, the most first. */
  #room(nowMs: number, halfLifeMs: number): { readonly place: string; room: number }[] {
    const room = this.#places.map((place) => ({ place, room: this.#free(this.#at(place), nowMs, halfLifeMs) }));
    return room.sort((one, other) => other.room - one.room);
  }

  /** What the programs leave of a cache; below 0 where they hold more. */
  #free(programs: readonly Program[], nowMs: number, halfLifeMs: number): number {
    let free = this.#options.cacheTokens;
    for (const { tokens, turns, actingSinceMs } of programs)
      free -= tokens * (turns > 0 ? 1 : 2 ** ((actingSinceMs - nowMs) / halfLifeMs)) + BUFFER_TOKENS;
    return free;
  }

  #at(place: string): Program[] {
    return [...this.#programs.values()].filter((program) => program.place === place);
  }

  #pause(program: Program): void {
    program.place = undefined;
    program.isMarked = false;
    program.isPaused = true;
  }

  #resume(program: Program, place: string | undefined): void {
    if (!program.isPaused) return;
    program.isPaused = false;
    program.place = place;
    const waiters = [...program.waiters];
    program.waiters.clear();
    for (const { goOn } of waiters) goOn();
  }
}

/** Those that wait first, then new ones, then those of which no turn waits; the smaller ones first. */
function byTurn(one: Program, other: Program): number {
  const rank = ({ steps, turns }: Program) => (steps === 1 ? 1 : turns > 0 ? 0 : 2);
  return rank(one) - rank(other) || one.tokens - other.tokens;
}

const kind = defineKind<Programs>("thunderagent/programs");

export function programsOf(host: PluginHost): Programs {
  const [listed] = kind.of(host);
  if (listed !== undefined) return listed.plugin;
  throw new Error("List programs.ts, of the same folder, before it.");
}

export default kind.define({
  type: "thunderagent-programs",
  summary: "Which of the agents' programs are active, and at which replica, as in ThunderAgent.",
  options,
  create: (asked, host) =>
    new Programs(
      asked,
      host.keep(1, () => new Map<string, Program>()),
    ),
});
