import type { ReadOnlyViews } from "./read-only-views.ts";

type Method = (...given: unknown[]) => unknown;

/**
 * The plugin with read-only views in the place of what the router hands to it, so that nothing that it writes there takes effect. For
 * plugins of one's own: those that come with the program are tested not to write, and see the router's objects themselves.
 */
export function isolated<Plugin extends object>(plugin: Plugin, views: ReadOnlyViews): Plugin {
  // A class has its methods on its prototype, and finds its private fields only as itself.
  const whole = Object.create(plugin) as Plugin;
  for (const key of namesOf(plugin)) Object.defineProperty(whole, key, memberOf(plugin, key, views));
  return whole;
}

/** A method is isolated once. Other members are read each time, because a plugin may change them as it goes on. */
function memberOf(plugin: object, key: string, views: ReadOnlyViews): PropertyDescriptor {
  const value = isAccessor(plugin, key) ? undefined : plugin[key as keyof typeof plugin];
  if (typeof value === "function") return { value: views.method(value as Method, plugin), enumerable: true };
  let last: unknown;
  let isolatedLast: unknown;
  return {
    get() {
      const now: unknown = plugin[key as keyof typeof plugin];
      if (now !== last) isolatedLast = isolatedPart(now, views);
      last = now;
      return isolatedLast;
    },
    enumerable: true,
  };
}

/** What a plugin has beside its methods may have methods too: the pages of an observer, the paths of a feature. */
function isolatedPart(part: unknown, views: ReadOnlyViews): unknown {
  if (Array.isArray(part)) return part.some(hasMethods) ? part.map((each) => isolatedPart(each, views)) : part;
  return hasMethods(part) ? isolated(part, views) : part;
}

function hasMethods(part: unknown): part is object {
  const isObject = typeof part === "object" && part !== null && !Array.isArray(part);
  return isObject && Object.values(part).some((each) => typeof each === "function");
}

function isAccessor(plugin: object, key: string): boolean {
  for (let at = plugin; at !== null; at = Object.getPrototypeOf(at)) {
    const descriptor = Object.getOwnPropertyDescriptor(at, key);
    if (descriptor !== undefined) return descriptor.get !== undefined;
  }
  return false;
}

/** Of all that it has, its own and its class's. */
function namesOf(plugin: object): readonly string[] {
  const names: string[] = [];
  for (let at = plugin; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
    names.push(...Object.getOwnPropertyNames(at));
  return [...new Set(names)].filter((name) => name !== "constructor");
}
