/** What a turn counts for beside its bytes: its objects, and its place in the tables. */
const TURN_BYTES = 1_024;
/** What an item that can be referred to counts for beside its id. */
const ITEM_BYTES = 256;

/** What a request and its response added to a conversation. The turns before it are reached by their links, so nothing is held twice. */
export class Turn {
  readonly id: string;
  readonly parent: Turn | undefined;
  /** The items as they came, with commas between them. */
  readonly items: Uint8Array;
  /** Of the first turn of a conversation whose input was a text: that text's bytes, quotes included; else 0. */
  readonly textBytes: number;
  /** Turns of the conversation up to this one. */
  readonly depth: number;
  /** Bytes of the items of the conversation up to this one, with a comma behind each turn. */
  readonly historyBytes: number;
  /** Why no request can continue it, in a sentence; "" if one can. */
  flaw: string;
  /** Requests under way that continue it, or a turn behind it: as long it stays. */
  pins = 0;
  isForgotten = false;
  usedAtMs = 0;
  older: Turn | undefined;
  newer: Turn | undefined;
  /** Of those of its items that have one. */
  readonly itemIds: readonly string[];

  constructor(
    id: string,
    parent: Turn | undefined,
    items: Uint8Array,
    textBytes: number,
    itemIds: readonly string[] = [],
    flaw = "",
  ) {
    this.id = id;
    this.parent = parent;
    this.items = items;
    this.textBytes = textBytes;
    this.itemIds = itemIds;
    this.flaw = flaw;
    this.depth = (parent?.depth ?? 0) + 1;
    this.historyBytes = (parent?.historyBytes ?? 0) + items.length + 1;
  }

  /** What it counts for in the bounds. */
  get bytes(): number {
    const itemBytes = this.itemIds.reduce((sum, id) => sum + ITEM_BYTES + 2 * id.length, 0);
    return TURN_BYTES + this.items.length + 2 * this.id.length + itemBytes;
  }

  /** All turns up to this one, the first one first. */
  history(): readonly Turn[] {
    const turns: Turn[] = [];
    for (let turn: Turn | undefined = this; turn !== undefined; turn = turn.parent) turns.push(turn);
    return turns.reverse();
  }
}

/** Turns in the order of their last use. */
export class TurnList {
  oldest: Turn | undefined;
  #newest: Turn | undefined;

  /** Adds a turn that is in no list. */
  add(turn: Turn): void {
    turn.older = this.#newest;
    if (this.#newest === undefined) this.oldest = turn;
    else this.#newest.newer = turn;
    this.#newest = turn;
  }

  remove(turn: Turn): void {
    const { older, newer } = turn;
    if (older !== undefined) older.newer = newer;
    else this.oldest = newer;
    if (newer !== undefined) newer.older = older;
    else this.#newest = older;
    turn.older = undefined;
    turn.newer = undefined;
  }
}
