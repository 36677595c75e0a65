/** What became of a setting. "left out": it did something that this router does not do, or that has to be done by hand. */
export const EFFECTS = ["taken over", "changed", "no meaning here", "left out", "not understood"] as const;

export type Effect = (typeof EFFECTS)[number];

/** What became of a setting, and why. */
export type Taken = readonly [effect: Effect, why: string];

/** A setting of the source, and what became of it. */
export interface Finding {
  /** As it is written there, without its value, which may be a secret. */
  readonly setting: string;
  /** 0: in no line of its own. */
  readonly line: number;
  readonly effect: Effect;
  readonly why: string;
}

export const noMeaning = (why: string) => (): Taken => ["no meaning here", why];
export const leftOut = (why: string) => (): Taken => ["left out", why];
export const changed = (why: string) => (): Taken => ["changed", why];
export const notUnderstood = (why: string): Taken => ["not understood", why];
