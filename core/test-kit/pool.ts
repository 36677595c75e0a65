import type { Endpoint } from "../contract/endpoint.ts";
import type { LoadView } from "../contract/load-view.ts";
import { type LoadMethod, type LoadNumbers, makeEndpoint, makeLoad } from "../contract/test-kit.ts";
import { checkedFacts, readPool } from "../state/facts-document.ts";

/** Endpoints in the order of their slots, and their numbers. */
export interface TestPool {
  readonly endpoints: readonly Endpoint[];
  readonly load: LoadView;
}

type NumbersOfOne = { readonly [Name in LoadMethod]?: ReturnType<LoadView[Name]> };

/** What one endpoint is and what its numbers are, where that is not the usual. */
type Member = Partial<Omit<Endpoint, "name" | "slot" | "models">> & { readonly models?: Iterable<string> } & NumbersOfOne;

/**
 * A pool, with a name for each endpoint. Unless an endpoint says otherwise, it is ready, serves "base", is idle, and nothing was
 * scraped from it. `others` are numbers of the whole pool, such as the time.
 *
 * @example
 * const pool = testPool({ gpu1: { labels: { gpu: "h100" }, inFlight: 3 }, gpu2: {} });
 */
export function testPool(members: Readonly<Record<string, Member>>, others: { readonly nowMs?: number } = {}): TestPool {
  const all = Object.values(members);
  // Which keys are an endpoint's own: the others are numbers of the load view.
  const usual = makeLoad(0);
  const isNumber = (key: string) => key in usual;
  const keysOf = (member: Member, isWanted: (key: string) => boolean) =>
    Object.fromEntries(Object.entries(member).filter(([key]) => isWanted(key)));
  const endpoints = Object.entries(members).map(([name, member], slot) =>
    makeEndpoint(slot, { ...keysOf(member, (key) => !isNumber(key)), name }),
  );
  const given = new Set(all.flatMap((member) => Object.keys(member).filter(isNumber)));
  const numbers = Object.fromEntries([...given].map((key) => [key, all.map((member) => member[key as keyof Member])]));
  return { endpoints, load: makeLoad(all.length, { ...numbers, ...others } as LoadNumbers) };
}

/**
 * The pool of a running router at the moment when `signalbox facts` printed it, for a test of what it came to there.
 *
 * @example
 * const pool = recordedPool(JSON.parse(readFileSync("facts.json", "utf8")));
 */
export function recordedPool(facts: unknown): TestPool {
  const { facts: read, load } = readPool(checkedFacts(facts));
  return { endpoints: read.endpoints, load };
}
