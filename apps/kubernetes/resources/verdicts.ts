import type { ConfigText } from "../../../config/read/files.ts";
import { formatProblem, type Problem } from "../../../config/read/problems.ts";
import type { ConditionFinding } from "./conditions.ts";
import { isSameResource } from "./settle.ts";
import type { TrackedResource } from "./tracked-resource.ts";

/** What became of a resource as it is now. */
export interface Verdict {
  readonly resource: TrackedResource;
  /** refused: the whole config that it would have been part of can't run. elsewhere: it is about another pool. */
  readonly state: "used" | "rejected" | "refused" | "elsewhere";
  /** What is wrong, or what is used but probably not meant so. */
  readonly notes: readonly string[];
  /** Whether an older state of it runs. */
  readonly isOlderUsed: boolean;
  /** How much of it comes to nothing, since other resources go first; undefined for nothing. */
  readonly conflict?: Problem["conflict"];
}

/** What the config was made of that runs. */
export interface RunningTexts {
  readonly texts: readonly ConfigText[];
  readonly elsewhere: ReadonlySet<string>;
  readonly warnings: readonly Problem[];
}

/** The latest attempt to use resources. */
export interface Attempt {
  /** As they were then, by name. */
  readonly seen: ReadonlyMap<string, ConfigText>;
  readonly rejected: ReadonlyMap<string, readonly Problem[]>;
  /** Why the whole was refused; empty if it was not. */
  readonly refusals: readonly string[];
}

/** What became of each resource; nothing is said of one that has changed since the attempt. */
export function verdictsOf(resources: readonly TrackedResource[], running: RunningTexts, attempt: Attempt): readonly Verdict[] {
  const texts = new Map(running.texts.map((each) => [each.file, each]));
  return resources.flatMap((resource): readonly Verdict[] => {
    const { text } = resource;
    const { file } = text;
    const used = texts.get(file);
    const notesOf = (problems: readonly Problem[]) => problems.map((problem) => formatProblem(inside(problem, file)));
    if (!isSameResource(text, attempt.seen.get(file))) return [];
    if (running.elsewhere.has(file)) return [{ resource, state: "elsewhere", notes: [], isOlderUsed: false }];
    if (isSameResource(text, used)) {
      const warnings = running.warnings.filter((warning) => warning.file === file);
      const conflict = warnings.find((warning) => warning.conflict !== undefined)?.conflict;
      return [{ resource, state: "used", notes: notesOf(warnings), isOlderUsed: false, ...(conflict && { conflict }) }];
    }
    const isOlderUsed = used !== undefined;
    const problems = attempt.rejected.get(file);
    if (problems === undefined) return [{ resource, state: "refused", notes: attempt.refusals, isOlderUsed }];
    return [{ resource, state: "rejected", notes: notesOf(problems), isOlderUsed }];
  });
}

/** A problem of a resource needs no name of the resource in its own status. */
function inside(problem: Problem, file: string): Problem {
  return problem.file === file ? { ...problem, file: "" } : problem;
}

const AGO = "The state of it that was good before is used on.";

const MOST_NAMES = 20;

/** Whether what a resource names is there: its pool, and its targets at a replica. */
function refsFinding(pool: string, missing: readonly string[]): ConditionFinding {
  const type = "ResolvedRefs";
  if (missing.length === 0)
    return { type, status: "True", reason: "ResolvedRefs", message: `It is about the pool ${pool} of this router.` };
  const names = missing.slice(0, MOST_NAMES).map((name) => JSON.stringify(name));
  const more = missing.length > MOST_NAMES ? ` and ${missing.length - MOST_NAMES} more` : "";
  const message = `No replica of the pool ${pool} has ${names.join(", ")}${more}: requests for it get 503, or go to other targets, unless a replica loads it when asked. Load it, or take it out of the rewrite.`;
  return { type, status: "False", reason: "TargetNotFound", message };
}

/** What the status of a resource says; undefined if it is none of this router's business. `missing`: targets that no replica has. */
export function findingsOf(
  { state, notes, isOlderUsed, resource, conflict }: Verdict,
  pool: string,
  missing: readonly string[],
): readonly ConditionFinding[] | undefined {
  const accepted = (status: ConditionFinding["status"], reason: string, lines: readonly string[]): ConditionFinding => {
    return { type: "Accepted", status, reason, message: lines.join("\n") };
  };
  const others = resource.regarding.kind === "Router" ? [] : [refsFinding(pool, missing)];
  switch (state) {
    case "elsewhere":
      return undefined;
    case "used":
      if (conflict === "whole")
        return [accepted("False", "Conflicted", ["Others take all of its requests:", ...notes]), ...others];
      return [accepted("True", conflict ? "PartlyConflicted" : "Accepted", ["It is used.", ...notes]), ...others];
    case "rejected":
      return [accepted("False", "Invalid", [...notes, ...(isOlderUsed ? [AGO] : [])]), ...others];
    case "refused":
      return [
        accepted("False", "NotApplied", ["The config as a whole can't run:", ...notes, ...(isOlderUsed ? [AGO] : [])]),
        ...others,
      ];
  }
}
