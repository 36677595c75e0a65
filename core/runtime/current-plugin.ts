// Which plugin of the user's own the main thread is in, for the watchdog's thread. As a number, since threads share nothing else.

const NOW = 0;
const LAST = 1;
/** Cells that watchdog.ts writes: a count that grows while the event loop turns, and the bound. */
export const BEATS = 2;
export const BOUND_MS = 3;

/** A runtime that embeds the router may have no shared memory; then there is no watchdog. */
export const cells = new Int32Array(typeof SharedArrayBuffer === "undefined" ? new ArrayBuffer(16) : new SharedArrayBuffer(16));

/** By number; 0 is for none. */
export const names: string[] = [""];
let told: ((name: string) => void) | undefined;

/** Calls `listener` with the name of each further number, in order. */
export function onName(listener: ((name: string) => void) | undefined): void {
  told = listener;
}

/** The number of what runs in a plugin's name; the same name keeps its number. */
export function pluginNumber(name: string): number {
  const known = names.indexOf(name);
  if (known > 0) return known;
  told?.(name);
  return names.push(name) - 1;
}

/** Call it before the plugin is called, and `leave` with what it returns behind that. */
export function enter(number: number): number {
  const before = cells[NOW] ?? 0;
  cells[NOW] = number;
  cells[LAST] = number;
  return before;
}

export function leave(before: number): void {
  cells[NOW] = before;
}

/** The plugin with methods that tell when they run. */
export function watched<Plugin extends object>(plugin: Plugin, number: number): Plugin {
  const whole = Object.create(plugin) as Plugin;
  for (let at: object = plugin; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const [key, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (key === "constructor" || Object.hasOwn(whole, key)) continue;
      // A class finds its private fields only as itself, and a getter may give something else each time.
      if (typeof value !== "function")
        Object.defineProperty(whole, key, { get: () => plugin[key as keyof Plugin], enumerable: true });
      else Object.defineProperty(whole, key, { value: watchedMethod(plugin, value, number), enumerable: true });
    }
  return whole;
}

function watchedMethod(plugin: object, method: (...given: unknown[]) => unknown, number: number) {
  return (...given: unknown[]) => {
    const before = enter(number);
    try {
      return method.apply(plugin, given);
    } finally {
      leave(before);
    }
  };
}

/** The result of a call that is the plugin's. */
export function whileIn<Result>(number: number, call: () => Result): Result {
  const before = enter(number);
  try {
    return call();
  } finally {
    leave(before);
  }
}
