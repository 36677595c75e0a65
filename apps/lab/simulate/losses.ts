import type { Profile } from "../../../core/active-config.ts";
import type { Decision, Leg } from "../../../core/contract/decision.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { SCALE_MS } from "../../../core/contract/expected-wait.ts";
import type { Random } from "../../../core/contract/profile-plugin.ts";
import { seededRandom } from "../../../core/contract/test-kit.ts";
import { BELIEFS, type Belief, decideAsAsked, type Question, withTruth } from "./exact-state.ts";
import { meanOf } from "./metrics.ts";
import type { Upstream } from "./upstream.ts";

/** Why a worse replica was picked: a wrong belief; or the policy, with every belief right. */
export const CAUSES = [...BELIEFS, "policy"] as const;

export type Cause = (typeof CAUSES)[number];

/** One request that went to a worse replica than the best one. Times are in milliseconds. */
export interface Loss {
  /** Its line in the trace's file. */
  readonly line: number;
  /** When it came, on the trace's clock, from the trace's first request on. */
  readonly atMs: number;
  readonly picked: string;
  readonly better: string;
  readonly lostMs: number;
  /** The parts of `lostMs`. Negative where the truth, without that of the causes after it, would have led to a worse pick. */
  readonly byCause: Readonly<Record<Cause, number>>;
}

/** What worse picks cost, summed over the decisions of a simulation. */
export interface Losses {
  readonly decisions: number;
  readonly worsePicks: number;
  readonly lostMs: number;
  /** The parts of `lostMs`, and of how many worse picks each was the largest part. */
  readonly byCause: Readonly<Record<Cause, { readonly lostMs: number; readonly picks: number }>>;
  /** The picks that lost most, worst first. */
  readonly worst: readonly Loss[];
}

/** The scorer of the default profile; the best candidate has its highest score. */
const SCORER = "outstanding-work";
const MOST_WORST = 10;
/** No pick loses more. A replica that stands still would take for ever. */
const MOST_LOST_MS = 60_000;
/** What is less comes from rounding. */
const LEAST_LOST_MS = 0.001;

/**
 * Compares every decision of one simulation with what the exact state would have made of it.
 *
 * The cost of a pick is what the default profile's scorer, given the exact state, expects beyond the best replica. To tell causes
 * apart, the decision is repeated with the truth in place of one belief after the other, in the order of `CAUSES`, and with the same
 * random numbers: what the cost falls by is lost by that belief. What is left with every truth is lost by the policy.
 */
export class LossMeter {
  readonly #reference: Profile;
  readonly #sums = new Map(CAUSES.map((cause) => [cause, { lostMs: 0, picks: 0 }]));
  #decisions = 0;
  #worsePicks = 0;
  #worst: readonly Loss[] = [];

  /** `reference`: the default profile. */
  constructor(reference: Profile) {
    this.#reference = reference;
  }

  /** Decides as the router does, and counts what the pick loses. */
  decide(question: Question, upstreams: readonly Upstream[]): Decision {
    const random = new RecordedRandom(question.random);
    const decision = decideAsAsked({ ...question, random: random.record });
    const [picked] = decision.legs[0]?.order ?? [];
    if (picked !== undefined) this.#compare(question, upstreams, picked, random);
    return decision;
  }

  losses(): Losses {
    return {
      decisions: this.#decisions,
      worsePicks: this.#worsePicks,
      lostMs: [...this.#sums.values()].reduce((sum, { lostMs }) => sum + lostMs, 0),
      byCause: Object.fromEntries(this.#sums) as Losses["byCause"],
      worst: this.#worst,
    };
  }

  #compare(question: Question, upstreams: readonly Upstream[], picked: Endpoint, random: RecordedRandom): void {
    const exactly = (truths: ReadonlySet<Belief>, profile: Profile) =>
      decideAsAsked({ ...withTruth(question, upstreams, truths), profile, random: random.replay() }).legs[0];
    const costs = costsIn(exactly(new Set(BELIEFS), this.#reference));
    const lostMs = costs?.of(picked);
    if (costs === undefined || lostMs === undefined) return;
    this.#decisions += 1;
    if (lostMs < LEAST_LOST_MS) return;
    const { line, atMs } = question.traced;
    const byCause = partsOf(lostMs, (truths) => {
      const [next] = exactly(truths, question.profile)?.order ?? [];
      return next && costs.of(next);
    });
    this.#add({ line, atMs, picked: picked.name, better: costs.best.name, lostMs, byCause });
  }

  #add(loss: Loss): void {
    this.#worsePicks += 1;
    for (const cause of CAUSES) this.#sums.get(cause)!.lostMs += loss.byCause[cause];
    const main = CAUSES.reduce((most, cause) => (loss.byCause[cause] > loss.byCause[most] ? cause : most));
    this.#sums.get(main)!.picks += 1;
    if (loss.lostMs > (this.#worst[MOST_WORST - 1]?.lostMs ?? 0)) this.#worst = worstOf([...this.#worst, loss]);
  }
}

/** `costWith`: what the pick costs with the truth in place of these beliefs; undefined if nothing is picked. */
function partsOf(lostMs: number, costWith: (truths: ReadonlySet<Belief>) => number | undefined): Loss["byCause"] {
  const truths = new Set<Belief>();
  let leftMs = lostMs;
  const parts = BELIEFS.map((belief) => {
    truths.add(belief);
    const nextMs = costWith(truths) ?? leftMs;
    const part = [belief, leftMs - nextMs] as const;
    leftMs = nextMs;
    return part;
  });
  return Object.fromEntries([...parts, ["policy", leftMs]]) as Loss["byCause"];
}

/** The mean over several simulations; the worst picks of all. */
export function meanLosses(all: readonly Losses[]): Losses {
  const means = meanOf(all.map(({ worst: _, ...numbers }) => numbers));
  return { ...means, worst: worstOf(all.flatMap(({ worst }) => worst)) };
}

const worstOf = (losses: readonly Loss[]) => [...losses].sort((a, b) => b.lostMs - a.lostMs).slice(0, MOST_WORST);

/** What each candidate costs beyond the best one, in milliseconds, read from the scores; undefined if they were not scored. */
function costsIn(leg: Leg | undefined) {
  const scores = leg?.scores.find(({ scorer }) => scorer === SCORER)?.values;
  if (leg === undefined || scores === undefined) return undefined;
  const { candidates } = leg;
  const values = Array.from(scores, (score) => score ?? 0);
  return {
    best: candidates[values.indexOf(Math.max(...values))]!,
    of(endpoint: Endpoint): number | undefined {
      const score = values[candidates.findIndex(({ slot }) => slot === endpoint.slot)];
      return score === undefined ? undefined : Math.min(MOST_LOST_MS, SCALE_MS / score - SCALE_MS);
    },
  };
}

/** Random numbers that can be drawn again, so that a decision can be repeated with other facts and the same luck. */
class RecordedRandom {
  readonly #random: Random;
  readonly #drawn: number[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  readonly record: Random = () => {
    const number = this.#random();
    this.#drawn.push(number);
    return number;
  };

  /** The numbers drawn so far, in order. Whoever wants more gets others, of which `record` knows nothing. */
  replay(): Random {
    const more = seededRandom(this.#drawn.length);
    let next = 0;
    return () => this.#drawn[next++] ?? more();
  }
}
