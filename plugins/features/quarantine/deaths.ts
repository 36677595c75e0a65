/** A request that a replica may have died of. It holds nothing of the prompt. */
export interface Suspect {
  /** Stands for its prompt. */
  readonly key: string;
  readonly promptBytes: number;
  readonly tenant: string;
  readonly model: string;
  /** The request's id. */
  readonly id: string;
  readonly lostAtMs: number;
}

/** A replica ended, and had these requests, by their keys. */
export interface Death {
  readonly endpoint: string;
  readonly atMs: number;
  readonly suspects: Map<string, Suspect>;
}

/** Fewer say nothing: replicas die for many reasons, and any request may be there. */
const LEAST_DEATHS = 2;

/**
 * The prompt that is blamed for the last of these deaths; undefined if none stands out. It was present at two deaths or more, and at more
 * than any other prompt that was present at one of them. If another prompt was present each time too, either may be the cause, and the next
 * death tells them apart.
 */
export function culpritOf(deaths: readonly Death[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { suspects } of deaths) for (const key of suspects.keys()) counts.set(key, (counts.get(key) ?? 0) + 1);
  for (const key of deaths.at(-1)?.suspects.keys() ?? []) {
    const count = counts.get(key)!;
    if (count < LEAST_DEATHS) continue;
    const own = deaths.filter(({ suspects }) => suspects.has(key));
    const others = own.flatMap(({ suspects }) => [...suspects.keys()]).filter((other) => other !== key);
    if (others.every((other) => counts.get(other)! < count)) return key;
  }
  return undefined;
}
