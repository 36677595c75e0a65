/** What one turn counts in the share of those that go on with a known session. */
const WEIGHT = 1 / 64;

/**
 * Do sessions come back? By where their ids are found: requests without an id whose prompts nobody goes on with are sessions of one turn
 * each, and no place has any worth for them. Where fewer than half of the last turns went on with a known session, new ones hold nobody up.
 */
export class ReturningSources {
  readonly #shares = new Map<string, number>();

  /** A turn has come. Returns whether it is one of a session that is likely to come back. */
  seen(source: string, isKnown: boolean): boolean {
    const before = this.#shares.get(source) ?? 1;
    const share = before + WEIGHT * ((isKnown ? 1 : 0) - before);
    this.#shares.set(source, share);
    return isKnown || share >= 0.5;
  }
}
