/** The node from which each name begins, and the one that no name has. */
export const ROOT = 1;
export const DEAD = 0;
const BYTES = 256;
const MOST_NODES = 256;

/** Tells names apart byte by byte, so that a name may come in pieces: from a node and a byte follows the next node. */
export class NameTree {
  /** At `BYTES * node + byte`: the next node, or DEAD. */
  readonly #next = new Uint8Array(BYTES * MOST_NODES);
  /** By node: what the name means that ends there; 0 where none does. */
  readonly #meanings = new Uint8Array(MOST_NODES);

  /** `meanings`: by name, which is ASCII; above 0. All names together have fewer than 255 different beginnings. */
  constructor(meanings: Readonly<Record<string, number>>) {
    let nodes = ROOT + 1;
    for (const [name, meaning] of Object.entries(meanings)) {
      let node = ROOT;
      for (const char of name) {
        const place = BYTES * node + char.charCodeAt(0);
        if (this.#next[place] === DEAD) this.#next[place] = nodes++;
        node = this.#next[place]!;
      }
      this.#meanings[node] = meaning;
    }
  }

  after(node: number, byte: number): number {
    return this.#next[BYTES * node + byte]!;
  }

  meaningOf(node: number): number {
    return this.#meanings[node]!;
  }
}
