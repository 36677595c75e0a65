import type { OpenConnection } from "./server-shared.ts";

/**
 * Whose place a newcomer from this address gets: the oldest connection whose client owes bytes of a request, of the address that has most
 * places, but of none that has fewer than the newcomer's. So who opens many displaces their own. Where all others have a response under
 * way, an address that has most of the places gives one up to another that has fewer even with it. `places` are the oldest first.
 */
export function displacedBy(newcomer: string, places: readonly OpenConnection[]): OpenConnection | undefined {
  const counts = new Map<string, number>();
  for (const { peer } of places) counts.set(peer, (counts.get(peer) ?? 0) + 1);
  const countOf = ({ peer }: OpenConnection) => counts.get(peer) ?? 0;
  const own = counts.get(newcomer) ?? 0;
  const owing = places.filter((each) => each.state !== "response" && countOf(each) >= own);
  const from = owing.length > 0 ? owing : places.filter((each) => countOf(each) > own + 1);
  const most = from.reduce((count, each) => Math.max(count, countOf(each)), 0);
  return from.find((each) => countOf(each) === most);
}
