import type { Endpoint } from "./contract/endpoint.ts";
import type { Feature } from "./contract/feature.ts";

/** The slots that requests meet on their way, in this order. */
const SLOTS = [
  "upgrade",
  "enter",
  "decode",
  "choosePool",
  "fallBack",
  "admit",
  "admitAgain",
  "answer",
  "plan",
  "compare",
  "send",
  "copy",
  "tap",
  "inflate",
  "lines",
  "lost",
  "settled",
  "explain",
] as const;

type Slot = (typeof SLOTS)[number];

/** A live feature by its name in the config. */
export interface NamedFeature {
  readonly name: string;
  readonly plugin: Feature;
}

/** A plugin that has a method that its contract lets it leave out. */
export type Having<Plugin, Method extends keyof Plugin> = Plugin & { readonly [Name in Method]-?: Plugin[Name] };

/** The features that fill a slot, in the order in which they are asked. */
export type Filled<Name extends Slot> = readonly { readonly name: string; readonly plugin: Having<Feature, Name> }[];

/** Who fills which slot. An empty list is not called. */
export type Slots = { readonly [Name in Slot]: Filled<Name> };

export function slotsOf(features: readonly NamedFeature[]): Slots {
  const filled = (name: Slot) => features.filter(({ plugin }) => plugin[name] !== undefined);
  // Each list has the features that have this method, which the compiler can't follow.
  return Object.fromEntries(SLOTS.map((name) => [name, filled(name)])) as unknown as Slots;
}

/** The endpoints of pools beside the router's own. */
export function endpointsElsewhere(features: readonly NamedFeature[]): readonly Endpoint[] {
  return features.flatMap(({ plugin }) => plugin.endpointsElsewhere?.() ?? []);
}

export const NO_SLOTS = slotsOf([]);
