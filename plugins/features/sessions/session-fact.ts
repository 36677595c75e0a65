import { BadFact, list, moment, text, whole } from "../../../core/contract/fact-fields.ts";
import type { SharedFact } from "../../../core/contract/slots/shared.ts";
import { MOST_HEADS, type ToldTurn } from "./gate/others-lines.ts";
import type { PromptEnd, Session, SessionKey } from "./session.ts";

const MOST_CHARS = 2_000;
const MOST_TOKENS = 2 ** 30;

/** Where a session has a place in a cache, as its gate has it. */
export interface ToldPlace {
  /** The replica's address; "" for nowhere. */
  readonly href: string;
  readonly tokens: number;
  /** For how long; Infinity where no gate has given or taken it. */
  readonly sinceMs: number;
}

/** What one router tells others of a session. */
export interface SessionState extends SessionKey {
  readonly place: ToldPlace;
  readonly turns: number;
  readonly underWay: number;
  /** Of the replica that served it last, its address; "" before the first. */
  readonly href: string;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly finishReason: string;
  /** How long ago its last turn came, and one ended last; NaN before it. */
  readonly cameAgoMs: number;
  readonly endedAgoMs: number;
  readonly responseKey: string;
  readonly promptEnd: Omit<PromptEnd, "session"> | undefined;
}

export function factOf(session: Session, href: string, place: ToldPlace, nowMs: number): SharedFact {
  const { key, tenant, model, name, source, turns, underWay, promptTokens, outputTokens, cachedTokens } = session;
  const { finishReason, cameAtMs, endedAtMs, responseKey, promptEnd } = session;
  const end = promptEnd && [promptEnd.low, promptEnd.high, promptEnd.tailBytes, promptEnd.digest];
  // JSON has null for NaN.
  const counts = [turns, underWay, promptTokens, outputTokens, cachedTokens, nowMs - cameAtMs, nowMs - endedAtMs].map(Math.round);
  return [
    key,
    tenant,
    model,
    name,
    source,
    href,
    finishReason,
    responseKey,
    counts,
    end ?? null,
    [place.href, Math.round(place.tokens), place.sinceMs],
  ];
}

/** In place of a session's key, which has spaces: the turns that wait here. */
export const LINE = "line";

export function lineFact(heads: readonly ToldTurn[]): SharedFact {
  return [LINE, heads.map(({ tokens, priority, waitedMs }) => [Math.round(tokens), priority, Math.round(waitedMs)])];
}

/** Throws BadFact. */
export function lineOf([, heads]: SharedFact): readonly ToldTurn[] {
  return list(heads, MOST_HEADS).map((head) => {
    const [tokens, priority, waitedMs] = list(head, 8);
    return { tokens: whole(tokens, MOST_TOKENS), priority: moment(priority), waitedMs: Math.max(0, moment(waitedMs)) };
  });
}

/** Throws BadFact. */
export function stateOf(fact: SharedFact): SessionState {
  const words = (place: number) => text(fact[place], MOST_CHARS);
  const counts = list(fact[8], 16);
  const tokens = (place: number) => (counts[place] === null ? Number.NaN : whole(counts[place], MOST_TOKENS));
  const ago = (place: number) => (counts[place] === null ? Number.NaN : Math.max(0, moment(counts[place])));
  if (words(0) === "") throw new BadFact("no session");
  return {
    ...{ key: words(0), tenant: words(1), model: words(2), name: words(3), source: words(4) },
    ...{ href: words(5), finishReason: words(6), responseKey: words(7) },
    ...{ turns: whole(counts[0]), underWay: whole(counts[1]) },
    ...{ promptTokens: tokens(2), outputTokens: tokens(3), cachedTokens: tokens(4), cameAgoMs: ago(5), endedAgoMs: ago(6) },
    place: placeOf(fact[10]),
    promptEnd: fact[9] === null ? undefined : endOf(fact[9]),
  };
}

function placeOf(field: unknown): ToldPlace {
  const [href, tokens, sinceMs] = list(field, 8);
  // JSON has null for Infinity.
  const since = sinceMs === null ? Number.POSITIVE_INFINITY : Math.max(0, moment(sinceMs));
  return { href: text(href, MOST_CHARS), tokens: whole(tokens, MOST_TOKENS), sinceMs: since };
}

function endOf(field: unknown): SessionState["promptEnd"] {
  const [low, high, tailBytes, digest] = list(field, 8).map(moment);
  if (low === undefined || high === undefined || digest === undefined) throw new BadFact("no end of a prompt");
  return { low, high, tailBytes: whole(tailBytes), digest };
}
