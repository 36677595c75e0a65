import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { Gambler } from "../../../core/state/gambler.ts";
import { MAX_SLOTS } from "../../../core/state/load.ts";
import { allocationPayoff } from "./allocation.ts";

/** Targets whose answers are compared: the first so many. */
const MOST_TARGETS = 256;
/** After so many answers for a target all counts are halved, so that old ones count less. */
const MOST_ANSWERS = 10_000;
/** Of an endpoint's own answers, one block has at most so many. */
const MOST_OWN = 64;
/** An answer's share in the mean share of empty ones: about the last twenty count. */
const MEAN_SHARE = 0.05;
/** Fewer empty answers in a row are no reason for a doubt. */
const LEAST_RUN = 3;
/** So improbable a run must be, by what others answer: more often than that, chance alone would begin a doubt. */
const MOST_RUN_PROBABILITY = 0.001;
/** Longer runs say no more. Where others' answers are nearly all empty, only proof counts. */
const LONGEST_RUN = 64;

/** Answers of one endpoint for one target. */
function newRow(generation: number, target: Target) {
  return {
    generation,
    answers: 0,
    empties: 0,
    // Empty answers since the last one with something in it.
    run: 0,
    // Of the block under way: its own answers, and what the target had when the block began.
    own: 0,
    ownEmpties: 0,
    answersBefore: target.answers,
    emptiesBefore: target.empties,
  };
}

type Row = ReturnType<typeof newRow>;

/** Answers of all endpoints for one target. */
interface Target {
  answers: number;
  empties: number;
  readonly rows: (Row | undefined)[];
}

/** What all answers of one endpoint told. */
interface Told {
  readonly generation: number;
  readonly gambler: Gambler;
  answers: number;
  share: number;
}

/**
 * Compares how often endpoints give an answer in which nothing was generated, however it looks. A prompt may want an empty answer, so one
 * says little; that the same target answers elsewhere says much.
 *
 * Answers for a target are grouped into blocks that end with one of the endpoint's own, as soon as others have answered too. If the
 * endpoint's answers are empty as often as the others', it is a matter of chance which of the answers in a block are the empty ones: a
 * Gambler stakes on how many of them are its own. A block without an empty answer, or with no other, says nothing.
 */
export class EmptyAnswers {
  readonly #targets = new Map<string, Target>();
  readonly #told = new Array<Told | undefined>(MAX_SLOTS);

  /** `isCompared`: false for an empty answer to a request that may have been sent here for what it is. */
  answered(name: string, endpoint: Endpoint, isEmpty: boolean, isCompared: boolean): void {
    // A late answer says nothing of the replica that has the slot now.
    if ((this.#told[endpoint.slot]?.generation ?? 0) > endpoint.generation) return;
    const told = this.#toldOf(endpoint);
    const target = this.#targetOf(name);
    if (target === undefined) return;
    const row = rowOf(target, endpoint);
    row.run = isEmpty ? row.run + 1 : 0;
    if (!isCompared) return;
    told.answers += 1;
    told.share += Math.max(MEAN_SHARE, 1 / told.answers) * ((isEmpty ? 1 : 0) - told.share);
    count(row, isEmpty);
    target.answers += 1;
    if (isEmpty) target.empties += 1;
    endBlock(row, target, told.gambler);
    if (target.answers >= MOST_ANSWERS) halve(target);
  }

  /** How much speaks for it that the endpoint's answers are empty too often; 1 for nothing. See Gambler. */
  evidence(endpoint: Endpoint): number {
    return this.#current(endpoint)?.gambler.capital ?? 1;
  }

  /** Which share of its latest answers was empty; NaN before the first. */
  share(endpoint: Endpoint): number {
    const told = this.#current(endpoint);
    return told === undefined || told.answers === 0 ? Number.NaN : told.share;
  }

  /** Whether at least half of the other endpoints' answers for the target are empty. */
  isUsual(name: string, { slot }: Endpoint): boolean {
    const target = this.#targets.get(name);
    if (target === undefined) return false;
    const { answers, empties } = elsewhere(target, slot);
    return empties / (answers + 1) >= 0.5;
  }

  /** Whether its last answers for a target were all empty, and others' are not. It needs few answers, and is not as certain. */
  isDoubtful({ slot, generation }: Endpoint): boolean {
    for (const target of this.#targets.values()) {
      const row = target.rows[slot];
      if (row === undefined || row.generation !== generation || row.run < LEAST_RUN) continue;
      if (runProbability(elsewhere(target, slot), row.run) <= MOST_RUN_PROBABILITY) return true;
    }
    return false;
  }

  /** What it did counts no more. */
  forgive({ slot }: Endpoint): void {
    this.#told[slot] = undefined;
    for (const target of this.#targets.values()) forget(target, slot);
  }

  #targetOf(name: string): Target | undefined {
    const known = this.#targets.get(name);
    if (known !== undefined || this.#targets.size >= MOST_TARGETS) return known;
    const target = { answers: 0, empties: 0, rows: [] };
    this.#targets.set(name, target);
    return target;
  }

  #toldOf(endpoint: Endpoint): Told {
    const known = this.#current(endpoint);
    if (known !== undefined) return known;
    const { slot, generation } = endpoint;
    this.forgive(endpoint);
    const told = { generation, gambler: new Gambler(), answers: 0, share: 0 };
    this.#told[slot] = told;
    return told;
  }

  /** Undefined where another replica has the slot. */
  #current({ slot, generation }: Endpoint): Told | undefined {
    const told = this.#told[slot];
    return told?.generation === generation ? told : undefined;
  }
}

function rowOf(target: Target, { slot, generation }: Endpoint): Row {
  const known = target.rows[slot];
  if (known?.generation === generation) return known;
  const row = newRow(generation, target);
  target.rows[slot] = row;
  return row;
}

function count(row: Row, isEmpty: boolean): void {
  row.answers += 1;
  row.own += 1;
  if (!isEmpty) return;
  row.empties += 1;
  row.ownEmpties += 1;
}

/** The block ends if others have answered in it. */
function endBlock(row: Row, target: Target, gambler: Gambler): void {
  const others = target.answers - row.answersBefore - row.own;
  if (others > 0) {
    const { payoff, lowest } = allocationPayoff(
      row.own,
      row.ownEmpties,
      others,
      target.empties - row.emptiesBefore - row.ownEmpties,
    );
    if (lowest < 0) gambler.pay(payoff, lowest);
  }
  if (others > 0 || row.own >= MOST_OWN) beginBlock(row, target);
}

function beginBlock(row: Row, target: Target): void {
  row.own = 0;
  row.ownEmpties = 0;
  row.answersBefore = target.answers;
  row.emptiesBefore = target.empties;
}

function halve(target: Target): void {
  target.answers = 0;
  target.empties = 0;
  for (const row of target.rows) {
    if (row === undefined) continue;
    row.answers /= 2;
    row.empties /= 2;
    target.answers += row.answers;
    target.empties += row.empties;
  }
  for (const row of target.rows) if (row !== undefined) beginBlock(row, target);
}

function forget(target: Target, slot: number): void {
  const gone = target.rows[slot];
  if (gone === undefined) return;
  target.rows[slot] = undefined;
  target.answers -= gone.answers;
  target.empties -= gone.empties;
  for (const row of target.rows) if (row !== undefined) beginBlock(row, target);
}

/**
 * What the other endpoints answered. Their shares of empty answers count alike, so that one that answers quickly does not count for more:
 * the mean of `m` shares of `n_j` answers each is as certain as m² / sum(1 / n_j) answers of one endpoint, by its variance.
 */
function elsewhere({ rows }: Target, slot: number): { readonly answers: number; readonly empties: number } {
  let endpoints = 0;
  let shares = 0;
  let variances = 0;
  for (let other = 0; other < rows.length; other++) {
    const row = rows[other];
    if (other === slot || row === undefined || row.answers === 0) continue;
    endpoints += 1;
    shares += row.empties / row.answers;
    variances += 1 / row.answers;
  }
  if (endpoints === 0) return { answers: 0, empties: 0 };
  const answers = endpoints ** 2 / variances;
  return { answers, empties: (answers * shares) / endpoints };
}

/**
 * How probable a run of empty answers is where others' are empty as these are: the product of (empties + i) / (answers + 1 + i) for each
 * i below `run`, which is the prediction from a Beta(empties, answers - empties + 1) distribution of the share. Before others have
 * answered it is 0: the prompts that are then sent there show what is usual.
 */
function runProbability({ answers, empties }: ReturnType<typeof elsewhere>, run: number): number {
  let probability = 1;
  for (let i = 0; i < Math.min(run, LONGEST_RUN); i++) probability *= (empties + i) / (answers + 1 + i);
  return probability;
}
