import type { Principal } from "../../../core/contract/principal.ts";

/** What requests of one principal came to, since the start. */
export interface KeyCounts {
  readonly name: string;
  readonly tenant: string;
  inFlight: number;
  requests: number;
  /** By a limit of the key. */
  refused: number;
  reportedTokens: number;
  estimatedTokens: number;
}

/** So many have counts of their own; tokens of other issuers may name any number of principals. */
const MOST_NAMED = 500;
const OTHER = "other";

/** The counts of all principals; of all further ones together once there are many. */
export class KeyCountTable {
  readonly #rows = new Map<string, KeyCounts>();

  of({ name, tenant }: Principal): KeyCounts {
    const isOther = this.#rows.size >= MOST_NAMED;
    return this.#rows.get(name) ?? (isOther ? this.#rowAt("", OTHER, OTHER) : this.#rowAt(name, name, tenant));
  }

  all(): readonly KeyCounts[] {
    return [...this.#rows.values()];
  }

  #rowAt(key: string, name: string, tenant: string): KeyCounts {
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const row = { name, tenant, inFlight: 0, requests: 0, refused: 0, reportedTokens: 0, estimatedTokens: 0 };
    this.#rows.set(key, row);
    return row;
  }
}
