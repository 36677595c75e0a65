/** What a target of a rewrite got. */
export interface TargetCount {
  /** The rule's name. */
  readonly rule: string;
  readonly target: string;
  readonly requests: number;
  readonly errors: number;
}

/** A status is read by people. */
const MOST_TARGETS = 100;

/** The status fields of the Router that a router runs with. */
export function countFields(targets: readonly TargetCount[], reportedBy: string) {
  return { reportedBy, targets: targets.slice(0, MOST_TARGETS) };
}
