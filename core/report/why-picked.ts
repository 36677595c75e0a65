import type { Leg } from "../contract/decision.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { type Estimate, estimateAt } from "../contract/estimate.ts";
import { whole } from "./number-text.ts";

/** Smaller differences in time are no reason. */
const LEAST_MS = 1;
/** The default scorer gives it for less than 3 ms. */
const LEAST_SCORE = 0.01;
/** More names would hide the sentence. */
const MOST_NAMES = 3;
/** The default scorer: it scores nothing but the expected time to the first token. */
const BY_TIME = "outstanding-work";

/** What was expected at the pick, and at another candidate. */
interface Compared {
  readonly here: Estimate | undefined;
  /** The other one in words. */
  readonly rival: string;
  readonly there: Estimate | undefined;
  readonly promptTokens: number;
}

/** Why the first endpoint of the order is the first, for people: what chose it, and what was expected there and at the next best. */
export function whyPicked(leg: Leg | undefined, poolSize: number, promptTokens: number): string {
  const [pick, next] = leg?.order ?? [];
  if (leg === undefined || pick === undefined) return "The picker chose no endpoint.";
  if (leg.candidates.length === 1) return onlyOne(leg, pick, poolSize);
  if (pick.isOnTrial) return `${pick.name} is on trial: this request decides whether it returns.`;
  if (leg.isPlaced)
    return sentences(`${pick.name}: its session has its place there.`, expectation(withSoonest(leg, promptTokens)));
  const compared = leg.pickerType === "max-score" ? withNextBest(leg, promptTokens) : withSoonest(leg, promptTokens);
  const expected = expectation(compared);
  if (isSoonest(leg, compared)) return `${pick.name}: ${expected}`;
  return sentences(reason(leg, pick, next), expected);
}

const sentences = (first: string, second: string) => [first, sentence(second)].filter((text) => text !== "").join(" ");

/** Whether the pick is the best by the expected time and nothing else, so that what was expected is the whole reason. */
function isSoonest(leg: Leg, compared: Compared): boolean {
  const [pick, next] = leg.order;
  if (pick === undefined || next === undefined || leg.pickerType !== "max-score" || !isByTime(leg)) return false;
  return totalOf(leg, pick) > totalOf(leg, next) && (longerMs(compared) >= LEAST_MS || cachedMore(compared) > 0);
}

function withNextBest(leg: Leg, promptTokens: number): Compared {
  const rival = `the next best, ${leg.order[1]?.name},`;
  return { here: estimateAt(leg, 0), rival, there: estimateAt(leg, 1), promptTokens };
}

/** Where the order does not follow the expected time, the pick is compared with the endpoint that was expected to respond first. */
function withSoonest(leg: Leg, promptTokens: number): Compared {
  let soonest = 1;
  let leastMs = Number.POSITIVE_INFINITY;
  for (let place = 1; place < leg.order.length; place++) {
    const ms = estimateAt(leg, place)?.firstTokenMs ?? Number.NaN;
    if (!(ms < leastMs)) continue;
    soonest = place;
    leastMs = ms;
  }
  const rival = leg.order[soonest]?.name ?? "";
  return { here: estimateAt(leg, 0), rival, there: estimateAt(leg, soonest), promptTokens };
}

function onlyOne({ dropped }: Leg, { name }: Endpoint, poolSize: number): string {
  const others = dropped.map(({ filter, endpoints }) => `${filter} dropped ${namesOf(endpoints)}`);
  const why = others.length === 0 ? "" : `: ${others.join(", ")}`;
  return `${name} was the only candidate${poolSize === 1 ? "" : ` of ${poolSize}`}${why}.`;
}

function namesOf(endpoints: readonly Endpoint[]): string {
  const names = endpoints.slice(0, MOST_NAMES).map(({ name }) => name);
  const more = endpoints.length - names.length;
  return more === 0 ? names.join(" and ") : `${names.join(", ")} and ${more} more`;
}

/** How the picker came to its pick. */
function reason(leg: Leg, pick: Endpoint, next: Endpoint | undefined): string {
  const { candidates, totals, picker, pickerType } = leg;
  const { name } = pick;
  const total = totalOf(leg, pick);
  const count = candidates.length;
  switch (pickerType) {
    case "round-robin":
      return `${name} was the next of ${count} in turn.`;
    case "random":
      return `${name} was drawn at random from ${count}.`;
    case "weighted-random": {
      const sum = candidates.reduce((all, _, index) => all + (totals[index] ?? 0), 0);
      return `${name} was drawn at random from ${count}; its chance, by the scores, was ${percent(sum > 0 ? total / sum : 1 / count)}.`;
    }
    case "power-of-two":
      return `${name} was the better of two drawn at random from ${count}: ${versus(leg, pick, next)}.`;
    case "max-score":
      return bestReason(leg, pick, next);
    default:
      return `${name} was the choice of the picker ${picker}: ${versus(leg, pick, next)}.`;
  }
}

function bestReason(leg: Leg, pick: Endpoint, next: Endpoint | undefined): string {
  const { candidates, totals, scores } = leg;
  if (scores.length === 0) return `${pick.name} was drawn at random from ${candidates.length}; no scorer had an opinion.`;
  const total = totalOf(leg, pick);
  const equals = candidates.filter((_, index) => totals[index] === total).length;
  if (equals > 1) return `${pick.name} was drawn at random from ${equals} with the same best score (${shown(total)}).`;
  if (isByRoom(leg, pick, next)) return `${pick.name} has the emptiest cache, or the oldest prompts in it, of those as fast.`;
  return `${pick.name} was best: ${versus(leg, pick, next)}${mostly(leg, pick, next)}.`;
}

/** Whether nothing but the room in the caches made the difference. */
function isByRoom(leg: Leg, pick: Endpoint, next: Endpoint | undefined): boolean {
  if (next === undefined || !isByTime(leg) || totalOf(leg, pick) - totalOf(leg, next) >= LEAST_SCORE) return false;
  return !(Math.abs((estimateAt(leg, 0)?.cachedTokens ?? 0) - (estimateAt(leg, 1)?.cachedTokens ?? 0)) > 0);
}

function versus(leg: Leg, pick: Endpoint, next: Endpoint | undefined): string {
  const own = `it scored ${shown(totalOf(leg, pick))}`;
  return next === undefined ? own : `${own}, ${next.name} ${shown(totalOf(leg, next))}`;
}

/** The scorer that speaks most for the pick, where there are several. */
function mostly(leg: Leg, pick: Endpoint, next: Endpoint | undefined): string {
  if (next === undefined || leg.scores.length < 2) return "";
  const [own, other] = [partsOf(leg, pick), partsOf(leg, next)];
  const gains = own.map((part, index) => part - other[index]!);
  const most = gains.indexOf(Math.max(...gains));
  return gains[most]! > 0 ? `, mostly by ${leg.scores[most]!.scorer}` : "";
}

/** What each scorer adds to the endpoint's total. */
function partsOf({ candidates, scores }: Leg, endpoint: Endpoint): readonly number[] {
  const index = candidates.indexOf(endpoint);
  const weights = scores.map(({ weight, values, confidences }) =>
    (values[index] ?? null) === null ? 0 : weight * (confidences?.[index] ?? 1),
  );
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return scores.map(({ values }, column) => (sum === 0 ? 0 : (weights[column]! * (values[index] ?? 0)) / sum));
}

const totalOf = ({ candidates, totals }: Leg, endpoint: Endpoint) => totals[candidates.indexOf(endpoint)] ?? 0;
const isByTime = ({ scores }: Leg) => scores.length === 1 && scores[0]!.scorer === BY_TIME;

/** How much longer the rival would take; NaN if unknown. */
function longerMs({ here, there }: Compared): number {
  return (there?.firstTokenMs ?? Number.NaN) - (here?.firstTokenMs ?? Number.NaN);
}

/** How many more tokens of the prompt are cached here than at the rival; NaN if unknown, or if the times are known. */
function cachedMore(compared: Compared): number {
  if (!Number.isNaN(longerMs(compared))) return Number.NaN;
  return (compared.here?.cachedTokens ?? Number.NaN) - (compared.there?.cachedTokens ?? Number.NaN);
}

/** What was expected, in tokens and milliseconds: "1,900 of 2,100 prompt tokens are cached there; e2 would take 340 ms longer." */
function expectation(compared: Compared): string {
  const parts = [cacheText(compared), rivalText(compared)].filter((text) => text !== "");
  return parts.length === 0 ? "" : `${parts.join("; ")}.`;
}

function cacheText({ here, promptTokens }: Compared): string {
  if (here === undefined) return "";
  const { cachedTokens, waitingTokens } = here;
  const cached =
    Number.isNaN(cachedTokens) || promptTokens === 0
      ? ""
      : `${cachedTokens === 0 ? "none" : whole(cachedTokens)} of ${whole(promptTokens)} prompt tokens ${cachedTokens > 1 ? "are" : "is"} cached there`;
  const waiting = waitingTokens >= 1 ? `${whole(waitingTokens)} tokens of other prompts wait there` : "";
  return [cached, waiting].filter((text) => text !== "").join(" and ");
}

function rivalText(compared: Compared): string {
  const { rival, there } = compared;
  const ms = longerMs(compared);
  if (ms >= LEAST_MS) return `${rival} would take ${duration(ms)} longer`;
  if (ms <= -LEAST_MS) return `${rival} would respond ${duration(-ms)} sooner`;
  if (!Number.isNaN(ms)) return `${rival} would take as long`;
  const more = cachedMore(compared);
  return Math.abs(more) > 0 ? `${rival} has ${whole(there?.cachedTokens ?? 0)} of them` : "";
}

/** With a capital letter, unless it begins with a name or a number. */
const sentence = (text: string) => text.replace(/^(none|the) /, (word) => word[0]!.toUpperCase() + word.slice(1));
const shown = (score: number) => score.toFixed(3);
const percent = (share: number) => `${Math.round(100 * share)}%`;
const duration = (ms: number) => (ms < 10_000 ? `${whole(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
