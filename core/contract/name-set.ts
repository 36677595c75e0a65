/** A set of names that can't be changed, not even at run time: a plugin's fault must not change what other plugins read. */
export interface NameSet extends Iterable<string> {
  readonly size: number;
  has(name: string): boolean;
}

class FixedNames implements NameSet {
  readonly #names: ReadonlySet<string>;

  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
  }

  get size(): number {
    return this.#names.size;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  [Symbol.iterator](): IterableIterator<string> {
    return this.#names[Symbol.iterator]();
  }
}

/**
 * A set of the names as they are now; later changes of `names` have no effect on it.
 *
 * @example
 * const isServed = nameSet(["llama", "mistral"]).has(request.target);
 */
export function nameSet(names: Iterable<string> = []): NameSet {
  return Object.freeze(new FixedNames(names));
}
