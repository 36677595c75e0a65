/** A set of names that nobody can change, at run time either: plugins get it, and a plugin's fault must stay its own. */
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

/** The names as they are now; later changes of `names` do not count. */
export function nameSet(names: Iterable<string> = []): NameSet {
  return Object.freeze(new FixedNames(names));
}
