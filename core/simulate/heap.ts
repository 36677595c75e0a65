/** A priority queue: the lowest key comes first, equal keys in the order they were pushed. */
export class MinHeap<Value> {
  readonly #keys: number[] = [];
  readonly #orders: number[] = [];
  readonly #values: Value[] = [];
  #pushes = 0;

  /** The lowest key; Infinity when empty. */
  get minKey(): number {
    return this.#keys[0] ?? Number.POSITIVE_INFINITY;
  }

  push(key: number, value: Value): void {
    this.#rise(this.#keys.length, key, this.#pushes++, value);
  }

  /** Removes and returns the value with the lowest key; undefined when empty. */
  pop(): Value | undefined {
    const first = this.#values[0];
    const key = this.#keys.pop();
    const order = this.#orders.pop();
    const value = this.#values.pop();
    if (key === undefined || order === undefined || this.#keys.length === 0) return first;
    this.#sink(0, key, order, value as Value);
    return first;
  }

  /** Places an element at `from` and moves it up until its parent has no higher key. */
  #rise(from: number, key: number, order: number, value: Value): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (!this.#isAfter(parent, key, order)) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#put(at, key, order, value);
  }

  /** Places an element at `from` and moves it down until no child has a lower key. */
  #sink(from: number, key: number, order: number, value: Value): void {
    const size = this.#keys.length;
    let at = from;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#isAfter(child, this.#keys[child + 1]!, this.#orders[child + 1]!)) child++;
      if (this.#isAfter(child, key, order)) break;
      this.#move(child, at);
      at = child;
    }
    this.#put(at, key, order, value);
  }

  #isAfter(at: number, key: number, order: number): boolean {
    const own = this.#keys[at]!;
    return own > key || (own === key && this.#orders[at]! > order);
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#keys[from]!, this.#orders[from]!, this.#values[from] as Value);
  }

  #put(at: number, key: number, order: number, value: Value): void {
    this.#keys[at] = key;
    this.#orders[at] = order;
    this.#values[at] = value;
  }
}
