import type { HeaderView } from "../../../core/contract/request.ts";
import type { PoolPlan } from "../../../core/router-config.ts";

/** What of a request says to which pool it goes. */
export interface Claimed {
  /** The model that the client asks for; "" for none. */
  readonly model: string;
  /** What a rule drew for it; "" for nothing. */
  readonly target: string;
  readonly headers: HeaderView;
  /** The name of its key; "" where it has none. */
  readonly key: string;
}

/** Who goes to one pool. */
export interface Selector {
  readonly name: string;
  readonly hasModel: ((name: string) => boolean) | undefined;
  readonly headers: readonly (readonly [name: string, matches: (value: string) => boolean])[];
  readonly hasKey: ((name: string) => boolean) | undefined;
}

/** Pools without selectors are left out: nothing is chosen for them by what it is. */
export function selectorsOf(pools: readonly PoolPlan[]): readonly Selector[] {
  return pools.flatMap(({ name, models, headers, keys }) => {
    if (models.length === 0 && headers.size === 0 && keys.length === 0) return [];
    return [
      {
        name,
        hasModel: models.length === 0 ? undefined : matcher(models),
        headers: [...headers].map(([header, values]) => [header, matcher(values)] as const),
        hasKey: keys.length === 0 ? undefined : matcher(keys),
      },
    ];
  });
}

/** The first pool, in the order of the documents, all of whose selectors match. */
export function selected(selectors: readonly Selector[], asked: Claimed): Selector | undefined {
  for (const selector of selectors) if (isFor(selector, asked)) return selector;
  return undefined;
}

function isFor({ hasModel, headers, hasKey }: Selector, asked: Claimed): boolean {
  if (hasModel !== undefined && !(hasModel(asked.model) || (asked.target !== "" && hasModel(asked.target)))) return false;
  if (hasKey !== undefined && !hasKey(asked.key)) return false;
  for (const [name, matches] of headers) {
    const value = asked.headers.get(name);
    if (value === undefined || !matches(value)) return false;
  }
  return true;
}

/** Names, and beginnings of names that end with "*". An empty name is none. */
function matcher(names: readonly string[]): (name: string) => boolean {
  const exact = new Set(names.filter((name) => !name.endsWith("*")));
  const starts = names.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));
  return (name) => name !== "" && (exact.has(name) || starts.some((start) => name.startsWith(start)));
}

/** Why a request goes to the pool, in a sentence. */
export function whySelected({ name, hasModel, headers, hasKey }: Selector): string {
  const by = [
    ...(hasModel === undefined ? [] : ["models"]),
    ...(headers.length === 0 ? [] : ["headers"]),
    ...(hasKey === undefined ? [] : ["keys"]),
  ];
  return `The pool "${name}" was chosen by its ${by.join(", ")}.`;
}
