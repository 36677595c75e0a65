/**
 * Does what a plugin must not do to everything that it can reach from a value: writes, adds, deletes, and calls what changes lists, maps
 * and bytes. Returns what was thrown, by the path of the member.
 */
export function writeEverywhere(value: unknown): ReadonlyMap<string, unknown> {
  const thrown = new Map<string, unknown>();
  visit(value, "", thrown, new Set());
  return thrown;
}

const LISTS = ["push", "sort", "reverse", "fill", "pop", "shift"] as const;

function visit(value: unknown, path: string, thrown: Map<string, unknown>, seen: Set<unknown>): void {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  if (value instanceof Uint8Array || value instanceof Float64Array) return void value.fill(7);
  if (value instanceof Map || value instanceof Set) {
    for (const each of value.values()) visit(each, `${path}.(each)`, thrown, seen);
    return value.clear();
  }
  const members = value as Record<string, unknown>;
  const keys = namesOf(value);
  for (const key of keys) {
    try {
      visit(members[key], `${path}.${key}`, thrown, seen);
    } catch (fault) {
      thrown.set(`${path}.${key}`, fault);
    }
  }
  const attempt = (name: string, run: () => unknown) => {
    try {
      run();
    } catch (fault) {
      thrown.set(`${path}.${name}`, fault);
    }
  };
  for (const key of keys) {
    attempt(key, () => (members[key] = "written"));
    attempt(key, () => Object.defineProperty(value, key, { value: "defined", configurable: true }));
    attempt(key, () => Reflect.deleteProperty(value, key));
  }
  attempt("more", () => (members["more"] = "added"));
  attempt("__defineGetter__", () =>
    (members["__defineGetter__"] as ((key: string, get: () => string) => void) | undefined)?.call(
      value,
      keys[0] ?? "x",
      () => "got",
    ),
  );
  attempt("__proto__", () => Object.setPrototypeOf(value, { isWritten: true }));
  if (Array.isArray(value))
    for (const name of LISTS) attempt(name, () => (value[name] as (given?: unknown) => unknown)("written"));
}

/** Its own, and those of its classes. */
function namesOf(value: object): readonly string[] {
  const names = new Set<string>();
  for (
    let at: object | null = value;
    at !== null && at !== Object.prototype && at !== Array.prototype;
    at = Object.getPrototypeOf(at)
  )
    for (const name of Object.getOwnPropertyNames(at)) if (name !== "constructor") names.add(name);
  return [...names];
}

/** What a value is, all the way down, for comparison: plain data, bytes, and what its methods without an argument or of slot 0 say. */
export function snapshot(value: unknown, depth = 0): unknown {
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null || depth > 8) return value;
  if (value instanceof Uint8Array || value instanceof Float64Array) return Array.from(value);
  if (value instanceof Map || value instanceof Set) return [...value].map((each) => snapshot(each, depth + 1));
  if (Array.isArray(value)) return value.map((each) => snapshot(each, depth + 1));
  const members = value as Record<string, unknown>;
  return Object.fromEntries(namesOf(value).map((name) => [name, snapshot(members[name], depth + 1)]));
}
