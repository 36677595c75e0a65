/** Names as they lie in MessagePack, found without making text of them: a decoder takes longer than all the rest of an event. */
export class Words {
  /** By length. */
  readonly #byLength: (readonly { readonly bytes: Uint8Array; readonly index: number }[])[] = [];

  constructor(names: readonly string[]) {
    const encoder = new TextEncoder();
    for (const [index, name] of names.entries()) {
      const bytes = encoder.encode(name);
      this.#byLength[bytes.length] = [...(this.#byLength[bytes.length] ?? []), { bytes, index }];
    }
  }

  /** The index of the name; -1 for one that is not among them. */
  find(bytes: Uint8Array, start: number, length: number): number {
    const candidates = this.#byLength[length];
    if (candidates === undefined) return -1;
    for (const { bytes: name, index } of candidates) {
      let same = 0;
      while (same < length && name[same] === bytes[start + same]) same++;
      if (same === length) return index;
    }
    return -1;
  }
}
