import { isDeepStrictEqual } from "node:util";

/** One line for each key that differs. */
export function named<Section extends object>(title: string, before: Section, after: Section): readonly string[] {
  return (Object.keys(after) as (keyof Section & string)[])
    .filter((key) => !isDeepStrictEqual(before[key], after[key]))
    .map((key) => `${title}.${key}: ${JSON.stringify(before[key]) ?? "none"} -> ${JSON.stringify(after[key]) ?? "none"}`);
}

interface Comparison<Entry> {
  readonly isSame?: (before: Entry, after: Entry) => boolean;
  /** In words that can stand behind the entry's name. */
  readonly difference?: (before: Entry, after: Entry) => string;
}

/** One line for each entry that is new, gone or not what it was. Entries have unique names. */
export function listed<Entry extends { readonly name: string }>(
  title: string,
  before: readonly Entry[],
  after: readonly Entry[],
  { isSame = isDeepStrictEqual, difference = () => "changed" }: Comparison<Entry> = {},
): readonly string[] {
  const known = new Map(before.map((entry) => [entry.name, entry]));
  const names = new Set(after.map(({ name }) => name));
  const changed = after.flatMap((entry) => {
    const old = known.get(entry.name);
    if (old === undefined) return [`${title} ${entry.name} added`];
    return isSame(old, entry) ? [] : [`${title} ${entry.name} ${difference(old, entry)}`];
  });
  const gone = before.filter(({ name }) => !names.has(name)).map(({ name }) => `${title} ${name} removed`);
  const lines = [...changed, ...gone];
  const isReordered = lines.length === 0 && before.some(({ name }, index) => after[index]?.name !== name);
  return isReordered ? [`${title}s in another order`] : lines;
}
