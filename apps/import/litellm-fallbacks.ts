import { isDeepStrictEqual } from "node:util";
import { isMapping } from "../../config/read/problems.ts";
import type { Draft, DraftPool, WrittenFallback } from "./draft.ts";
import { notUnderstood, type Taken } from "./finding.ts";
import type { Take } from "./taking.ts";

// LiteLLM's `fallbacks`, by which a request for one name goes on to another one, as `spec.fallback` of pools.

const BY_POOLS: Taken = [
  "changed",
  "spec.fallback, with a pool for each model in it: a request goes on where its pool is full or no replica of it can be reached; the error of a replica that works on it stays (docs/pools.md)",
];
const WANTED = notUnderstood("a list of names is wanted, each with a list of names to go on to");

/** `fallbacks`: a list of mappings, from a name to a list of names. */
export const takeFallbacks: Take = ({ value, line, name, lineAt }, draft) => {
  if (!Array.isArray(value) || !value.every(isMapping)) return WANTED;
  for (const [index, mapping] of value.entries())
    for (const [from, to] of Object.entries(mapping)) {
      if (!Array.isArray(to)) draft.find(`${name}[${index}].${from}`, line, WANTED);
      else draft.fallbacks.push({ from, to, setting: `${name}[${index}].${from}`, line: lineAt([index, from]) });
    }
  return BY_POOLS;
};

/** `default_fallbacks`: a list of names. */
export const takeDefaultFallbacks: Take = ({ value, line, name }, draft) => {
  if (!Array.isArray(value)) return notUnderstood("a list of names is wanted");
  draft.fallbacks.push({ from: "*", to: value, setting: name, line });
  return BY_POOLS;
};

/** Names whose replicas are the same ones, in part or all: they are in one pool. */
interface Group {
  readonly names: Set<string>;
  readonly urls: Set<string>;
}

/** Makes a pool of each group of replicas that a fallback leads from or to. What can't be made is found as left out. */
export function poolFallbacks(draft: Draft): void {
  const groups = groupsOf(draft.places);
  const groupOf = (name: string) => groups.find(({ names }) => names.has(modelOf(name, draft)));
  const lists = new Map<Group, WrittenFallback>();
  for (const written of draft.fallbacks.filter(({ from }) => from !== "*")) {
    const group = groupOf(written.from);
    const refusal = group === undefined ? NO_REPLICAS : refusedList(written, group, draft);
    if (refusal !== undefined) draft.find(written.setting, written.line, ["left out", refusal]);
    else lists.set(group!, written);
  }
  const usual = draft.fallbacks.find(({ from }) => from === "*");
  for (const group of usual === undefined ? [] : groups) if (!lists.has(group)) lists.set(group, usual!);
  const pools = new Map<Group, DraftPool>();
  for (const [group, written] of lists) addFallbacks(group, written, groupOf, pools, draft);
  draft.pools.push(...pools.values());
  if (pools.size === 0) draft.lose(BY_POOLS, ["left out", "none of its names can go on to another one"]);
}

const NO_REPLICAS = "model_list has no replica of one's own for that name";

function groupsOf(places: ReadonlyMap<string, ReadonlySet<string>>): readonly Group[] {
  const groups: Group[] = [];
  for (const [name, urls] of places) {
    const same = groups.filter((group) => [...urls].some((url) => group.urls.has(url)));
    const joined: Group = {
      names: new Set([...same.flatMap((group) => [...group.names]), name]),
      urls: new Set([...same.flatMap((group) => [...group.urls]), ...urls]),
    };
    for (const group of same) groups.splice(groups.indexOf(group), 1);
    groups.push(joined);
  }
  return groups;
}

/** The name of the entries that a name stands for. */
function modelOf(name: string, { standIns }: Draft): string {
  return standIns.get(name)?.model ?? name;
}

/** Why a group can't have this list; a pool has one for all of its names. */
function refusedList(written: WrittenFallback, { names }: Group, draft: Draft): string | undefined {
  const lists = [...names].map((name) => draft.fallbacks.find(({ from }) => from !== "*" && modelOf(from, draft) === name)?.to);
  if (lists.every((list) => isDeepStrictEqual(list, written.to))) return undefined;
  const others = [...names].filter((name) => name !== modelOf(written.from, draft));
  return `the same replicas serve ${others.join(", ")}, which goes on in another way: a pool has one spec.fallback`;
}

/** Adds what one list leads to, and the pools that it needs. */
function addFallbacks(
  group: Group,
  { to, setting, line }: WrittenFallback,
  groupOf: (name: string) => Group | undefined,
  pools: Map<Group, DraftPool>,
  draft: Draft,
): void {
  for (const [index, name] of to.entries()) {
    const other = typeof name === "string" ? groupOf(name) : undefined;
    if (other === group) continue;
    if (other === undefined) {
      draft.find(`${setting}[${index}]`, line, ["left out", NO_REPLICAS]);
      continue;
    }
    const [from, into] = [poolOf(group, pools, draft), poolOf(other, pools, draft)];
    const model = targetOf(name as string, draft);
    const isSame = targetsOf(group, draft).every((target) => target === model);
    from.fallback.push(isSame ? into.name : { pool: into.name, modelRewrite: model });
    from.origin = setting;
  }
}

/** What the replicas of a name get most of its requests as. */
function targetOf(name: string, draft: Draft): string {
  const [first] = [...(draft.aliases.get(name) ?? [])].sort(([, one], [, other]) => other - one);
  return first?.[0] ?? name;
}

function targetsOf({ names }: Group, draft: Draft): readonly string[] {
  return [...names].flatMap((name) => [...(draft.aliases.get(name)?.keys() ?? [name])]);
}

function poolOf(group: Group, pools: Map<Group, DraftPool>, draft: Draft): DraftPool {
  const known = pools.get(group);
  if (known !== undefined) return known;
  const taken = new Set(["default", ...[...pools.values()].map(({ name }) => name)]);
  const plain =
    [...group.names][0]!
      .replace(/[^A-Za-z0-9._-]/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "")
      .slice(0, 100) || "pool";
  let name = plain;
  for (let number = 2; taken.has(name); number++) name = `${plain}-${number}`;
  const standIns = [...draft.standIns].filter(([, { model }]) => group.names.has(model)).map(([alias]) => alias);
  const pool: DraftPool = { name, urls: group.urls, models: new Set([...group.names, ...standIns]), fallback: [], origin: "" };
  pools.set(group, pool);
  return pool;
}
