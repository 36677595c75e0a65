import type { Endpoint } from "../../../core/contract/endpoint.ts";
import type { Usage } from "../../../core/contract/outcome.ts";
import { Booking } from "../../../core/pool/booking.ts";
import type { Pool } from "../../../core/pool/pool.ts";
import { LoadTable } from "../../../core/state/load.ts";
import { PrefixIndex } from "../../../core/state/prefix-index.ts";
import { TokenScale } from "../../../core/state/token-scale.ts";
import { UNWATCHED } from "../../../core/state/traffic.ts";
import { makeEndpoint, makeRequest } from "../../support/endpoints.ts";

export const PROMPT = new TextEncoder().encode("once upon a time there was a router, ".repeat(200));

export const TOKENS = PROMPT.length / 4;

export const USAGE: Usage = { promptTokens: TOKENS, outputTokens: 50, cachedTokens: 0 };

/** The endpoint that has the slot now. */
export const endpointIn = (load: LoadTable, slot: number) =>
  makeEndpoint(slot, { name: "a", generation: load.generationOf(slot) });

/** What of a pool a booking takes from, and teaches. */
export const poolOf = (load: LoadTable, prefixIndex?: PrefixIndex) =>
  ({ load, prefixIndex, tokenScale: new TokenScale() }) as Pool;

/** One endpoint whose cache is believed to hold the first half of the prompt. */
export function setUp() {
  const load = new LoadTable();
  const index = new PrefixIndex({ blockBytes: 64, maxBytes: 2 ** 20, countGenerated: true, secret: [1, 2, 3, 4, 5, 6] });
  const slot = load.slotOf("a");
  const current = (): Endpoint => endpointIn(load, slot);
  const prefixOf = (bytes: number) =>
    index.match({ api: "chat", target: "base", cacheSalt: "" }, PROMPT, [[0, bytes]], Math.round(bytes / 4));
  const requestOf = (bytes: number) =>
    makeRequest({ isStream: true, promptTokens: Math.round(bytes / 4), prefix: prefixOf(bytes) });
  const pool = poolOf(load, index);
  const book = (bytes: number, endpoint = current(), traffic = UNWATCHED) =>
    new Booking(requestOf(bytes), endpoint, pool, traffic, 0);
  /** All that is believed of the slot. */
  const believed = () => {
    const prefix = prefixOf(PROMPT.length);
    return [prefix.matchedBlocks(slot), prefix.matchedTokens(slot), index.stats().slots[0]?.tokens];
  };
  book(PROMPT.length / 2).settled(200, undefined, 0);
  return { load, index, pool, slot, current, book, believed };
}
