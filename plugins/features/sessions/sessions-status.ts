import { type Endpoint, isServing } from "../../../core/contract/endpoint.ts";
import type { GatedLine } from "./gate/gated-line.ts";
import type { Session } from "./session.ts";
import type { Sessions } from "./sessions.ts";

export type SessionsStatus = Readonly<NonNullable<ReturnType<typeof sessionsStatus>>>;

/** Of thousands, those that had a turn last. */
const MOST_SHOWN = 100;

/** Who is on which replica, how large, idle since, as JSON; null where nobody looks for sessions. */
export function sessionsStatus(sessions: Sessions, line: GatedLine, nowMs: number) {
  if (sessions.settings === undefined) return null;
  const all = [...sessions.all()];
  return {
    known: all.length,
    underWay: all.filter(({ isBusy }) => isBusy).length,
    // For a place in a replica's cache.
    waiting: line.size,
    max: sessions.settings.max,
    byEndpoint: byEndpoint(all),
    // Those that had a turn last come first.
    latest: all
      .sort((one, other) => other.cameAtMs - one.cameAtMs)
      .slice(0, MOST_SHOWN)
      .map((session) => shown(session, nowMs)),
  };
}

function byEndpoint(all: readonly Session[]) {
  const found = new Map<string, { endpoint: string; sessions: number; underWay: number; tokens: number }>();
  for (const { endpoint, isBusy, tokens } of all) {
    if (endpoint === "") continue;
    const row = found.get(endpoint) ?? { endpoint, sessions: 0, underWay: 0, tokens: 0 };
    found.set(endpoint, row);
    row.sessions += 1;
    row.underWay += isBusy ? 1 : 0;
    row.tokens += tokens || 0;
  }
  return [...found.values()].sort((one, other) => (one.endpoint < other.endpoint ? -1 : 1));
}

function shown(session: Session, nowMs: number) {
  const { name, tenant, model, source, turns, elsewhere, endpoint, tokens, cachedTokens } = session;
  const underWay = [...elsewhere.values()].reduce((sum, count) => sum + count, session.underWay);
  return {
    name,
    tenant,
    model,
    source,
    turns,
    underWay,
    // Of the turn before, like the tokens: empty, and null, before one has ended.
    endpoint,
    tokens: known(tokens),
    cachedTokens: known(cachedTokens),
    idleMs: Math.round(session.idleMs(nowMs)),
  };
}

const known = (count: number) => (Number.isNaN(count) ? null : count);

/** `cacheTokens`: of replicas' caches, by slot; undefined for one that does not say. */
export function gateWarnings(endpoints: readonly Endpoint[], cacheTokens: readonly (number | undefined)[]): readonly string[] {
  const serving = endpoints.filter(isServing);
  if (serving.length === 0 || serving.some(({ slot }) => cacheTokens[slot] !== undefined)) return [];
  return ["spec.sessions.gate holds no turn back: no replica's metrics say how large its cache is."];
}
