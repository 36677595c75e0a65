import type { PluginKind, PluginKinds } from "./plugin.ts";

/** The kinds that the router itself calls. */
type KnownKind = Exclude<PluginKind, `${string}/${string}`>;

/** What a plugin of each kind must have; further methods are optional. */
const MEMBERS: { readonly [Kind in KnownKind]: readonly (keyof PluginKinds[Kind] & string)[] } = {
  authenticator: ["authenticate"],
  parser: ["routes", "dialect", "keys", "parse"],
  rewriter: ["clientModels", "draw"],
  filter: ["filter"],
  scorer: ["score"],
  picker: ["pick"],
  admission: ["join", "leave", "take", "least"],
  discovery: ["start"],
  source: ["path", "periodMs", "read"],
  detector: ["detect"],
  observer: ["finished"],
  feature: [],
};
/** Of these, what is no method. */
const DATA: ReadonlySet<string> = new Set(["routes", "dialect", "keys", "clientModels", "path", "periodMs"]);

export const KNOWN_KINDS = Object.keys(MEMBERS) as readonly KnownKind[];

/** Whether it is a kind of some package's own. */
export function isOwnKind(kind: string): boolean {
  return /^[^/\s]+\/[^/\s]+$/.test(kind);
}

/**
 * What keeps the value that a definition's `create` returned from being a plugin of this kind; "" if nothing does.
 *
 * @example
 * if (shapeProblem("scorer", { score: () => null }) !== "") throw new Error("no scorer");
 */
export function shapeProblem(kind: PluginKind, plugin: unknown): string {
  const members: readonly string[] = Object.hasOwn(MEMBERS, kind) ? MEMBERS[kind as KnownKind] : [];
  const wanted = members.length === 0 ? "an object" : `an object with ${members.map(withCall).join(", ")}`;
  if (plugin instanceof Promise) return `create must return ${wanted}, not a promise: what takes time belongs into load()`;
  if (typeof plugin !== "object" || plugin === null) return `create must return ${wanted}, and returned ${nameOf(plugin)}`;
  const missing = members.filter((name) => !isThere(name, (plugin as Readonly<Record<string, unknown>>)[name]));
  return missing.length === 0 ? "" : `create must return ${wanted}; ${missing.map(withCall).join(", ")} is not there`;
}

function isThere(name: string, value: unknown): boolean {
  return DATA.has(name) ? value !== undefined : typeof value === "function";
}

const withCall = (name: string) => (DATA.has(name) ? name : `${name}(…)`);

function nameOf(value: unknown): string {
  return value === undefined || value === null ? String(value) : `a ${typeof value}`;
}
