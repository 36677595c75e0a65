import type { PrefixIndexSize } from "../contract/router-view.ts";

/** The prefix index, for people to look at. */
export interface PrefixIndexStats extends PrefixIndexSize {
  /** Slots that hold at least one entry. */
  readonly slots: readonly SlotResidency[];
}

export interface SlotResidency {
  readonly slot: number;
  readonly entries: number;
  readonly tokens: number;
  readonly capacityTokens: number;
}
