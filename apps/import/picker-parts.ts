import { isMapping, type Path, pathText } from "../../config/read/problems.ts";

type Mapping = Record<string, unknown>;
type Inner = Mapping | unknown[];

/** Stands for an item that is taken out until all of a round are, so that the others keep their places. */
const TAKEN = Symbol("taken out");

/** A copy of an EndpointPickerConfig from which parts are taken, and which knows where in the file each list item was. */
export class PickerParts {
  readonly value: Mapping;
  /** By list from which items were taken: the index in the file of each that is left. */
  readonly #indexes = new Map<unknown, readonly number[]>();

  constructor(value: Readonly<Mapping>) {
    this.value = structuredClone(value) as Mapping;
  }

  /** The same place in the file; `path` is as messages write it, such as plugins[3].type. */
  inFile(path: string): Path {
    let node: unknown = this.value;
    return stepsOf(path).map((step) => {
      const index = typeof step === "number" ? (this.#indexes.get(node)?.[step] ?? step) : step;
      node = isInner(node) ? (node as Mapping)[step] : undefined;
      return index;
    });
  }

  nameInFile(path: string): string {
    return pathText(this.inFile(path));
  }

  /**
   * Takes out the smallest parts around these paths that can be missing: an entry of a list with what refers to it, else a key at the
   * top. False if none is there.
   */
  takeOut(paths: readonly string[]): boolean {
    const lists = new Set<unknown[]>();
    const names = new Set<string>();
    const keys = new Set<string>();
    let isDeciderGone = false;
    for (const path of paths) {
      const steps = stepsOf(path);
      const [key, index, ...inner] = steps;
      if (typeof key !== "string" || !Object.hasOwn(this.value, key) || key === "kind" || key === "apiVersion") continue;
      const entries = this.value[key];
      if (!Array.isArray(entries) || typeof index !== "number" || index >= entries.length) keys.add(key);
      else if (key === "schedulingProfiles") takeFromProfiles(entries, steps, lists);
      else if (takeDecider(entries[index], inner)) isDeciderGone = true;
      else {
        const gone = take(entries, index, lists);
        if (key === "plugins" && isMapping(gone)) names.add(String(gone["name"] ?? gone["type"]));
      }
    }
    dropReferences(this.value["schedulingProfiles"], names, lists);
    for (const list of lists) this.#sweep(list);
    for (const key of keys) delete this.value[key];
    return isDeciderGone || lists.size > 0 || keys.size > 0;
  }

  /** Closes the gaps of a list. */
  #sweep(list: unknown[]): void {
    const indexes = this.#indexes.get(list);
    const kept = [...list.keys()].filter((index) => list[index] !== TAKEN);
    const items = kept.map((index) => list[index]);
    this.#indexes.set(
      list,
      kept.map((index) => indexes?.[index] ?? index),
    );
    list.length = 0;
    for (const item of items) list.push(item);
  }
}

/** Steps of a path as messages write it. */
function stepsOf(text: string): Path {
  return [...text.matchAll(/([\w$-]+)|\[(\d+)\]/g)].map(([, key, index]) => key ?? Number(index));
}

const isInner = (value: unknown): value is Inner => typeof value === "object" && value !== null;

/** Takes an item, and returns what was there: undefined if it is gone already. */
function take(list: unknown[], index: number, lists: Set<unknown[]>): unknown {
  const item = list[index];
  if (index >= list.length || item === TAKEN) return undefined;
  list[index] = TAKEN;
  lists.add(list);
  return item;
}

/** A profile handler does without a decider: what that one says when to do is then not done. */
function takeDecider(entry: unknown, path: Path): boolean {
  const [parameters, deciders, name, ...more] = path;
  if (parameters !== "parameters" || deciders !== "deciders" || name === undefined || more.length > 0) return false;
  const given = isMapping(entry) && isMapping(entry["parameters"]) ? entry["parameters"]["deciders"] : undefined;
  return isMapping(given) && Object.hasOwn(given, name) && delete (given as Mapping)[name];
}

/** One reference of a profile, one profile, or all but one where there are too many. */
function takeFromProfiles(profiles: unknown[], path: Path, lists: Set<unknown[]>): void {
  const [, at, inner, reference] = path as readonly [string, number, unknown?, unknown?];
  const profile = profiles[at];
  const references = isMapping(profile) ? profile["plugins"] : undefined;
  if (inner === "plugins" && Array.isArray(references) && typeof reference === "number") {
    take(references, reference, lists);
    return;
  }
  // Decode servers can do the whole of a request; prefill servers may not.
  const decode = profiles.findIndex((each) => isMapping(each) && each["name"] === "decode");
  const isOneTooMany = inner === undefined && isMapping(profile) && profiles.length > 1;
  const kept = isOneTooMany ? Math.max(0, decode) : undefined;
  for (const index of kept === undefined ? [at] : profiles.keys()) if (index !== kept) take(profiles, index, lists);
}

function dropReferences(profiles: unknown, names: ReadonlySet<string>, lists: Set<unknown[]>): void {
  if (names.size === 0) return;
  for (const profile of Array.isArray(profiles) ? profiles : []) {
    const references: unknown = isMapping(profile) ? profile["plugins"] : undefined;
    if (!Array.isArray(references)) continue;
    for (const [index, reference] of references.entries())
      if (isMapping(reference) && names.has(String(reference["pluginRef"]))) take(references, index, lists);
  }
}
