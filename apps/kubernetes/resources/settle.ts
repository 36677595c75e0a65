import { isDeepStrictEqual } from "node:util";
import type { ConfigText } from "../../../config/read/files.ts";
import type { Problem } from "../../../config/read/problems.ts";

/** A config that can run, or why it can't. */
export interface Outcome {
  readonly problems?: readonly Problem[] | undefined;
}

interface Settled<Result> {
  readonly result: Result;
  /** Resources that are not used as they are now, by their names, and why. */
  readonly rejected: ReadonlyMap<string, readonly Problem[]>;
}

/** Loads the files with these resources. */
export type LoadWith<Result> = (resources: readonly ConfigText[]) => Promise<Result>;
type ByName = Map<string, ConfigText>;

/**
 * Loads with as many of the newest resources as can run. In the place of one that can't, that of `running` stays: a resource with a
 * problem takes no other one down. Refused only if it can't run with the resources that run either.
 */
export async function settle<Result extends Outcome>(
  newest: readonly ConfigText[],
  running: readonly ConfigText[],
  load: LoadWith<Result>,
): Promise<Settled<Result>> {
  const before = byName(running);
  const chosen = byName(newest);
  const rejected = new Map<string, readonly Problem[]>();
  let refusal: Result | undefined;
  for (;;) {
    const result = await load([...chosen.values()]);
    const { problems } = result;
    if (problems === undefined) return { result, rejected };
    refusal ??= result;
    const blamed = changedNames(before, chosen).filter((name) => problems.some(({ file }) => file === name));
    if (blamed.length === 0) break;
    for (const name of blamed) {
      rejected.set(
        name,
        problems.filter(({ file }) => file === name),
      );
      put(chosen, name, before.get(name));
    }
  }
  // The problem shows in another document, for example in a file that names a removed rule. So the changes are tried one after the other.
  const found = await oneByOne(before, chosen, rejected, load);
  return { result: found ?? refusal, rejected };
}

/** Undefined if even what runs does not load. */
async function oneByOne<Result extends Outcome>(
  before: ByName,
  chosen: ByName,
  rejected: Map<string, readonly Problem[]>,
  load: LoadWith<Result>,
): Promise<Result | undefined> {
  const tried = new Map(before);
  let result = await load([...tried.values()]);
  if (result.problems !== undefined) return undefined;
  for (const name of changedNames(before, chosen)) {
    put(tried, name, chosen.get(name));
    const next = await load([...tried.values()]);
    if (next.problems === undefined) {
      result = next;
      continue;
    }
    rejected.set(name, next.problems);
    put(tried, name, before.get(name));
  }
  return result;
}

/** Whether two states of a resource say the same. */
export function isSameResource(one: ConfigText | undefined, other: ConfigText | undefined): boolean {
  return isDeepStrictEqual(one?.resource, other?.resource);
}

function changedNames(before: ByName, after: ByName): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => !isSameResource(before.get(name), after.get(name)));
}

const byName = (texts: readonly ConfigText[]): ByName => new Map(texts.map((each) => [each.file, each]));

function put(resources: ByName, name: string, resource: ConfigText | undefined): void {
  if (resource === undefined) resources.delete(name);
  else resources.set(name, resource);
}
