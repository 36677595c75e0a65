/** What is found of a resource in one respect. */
export interface ConditionFinding {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  /** In one word. */
  readonly reason: string;
  readonly message: string;
}

/** One entry of `status.conditions`. */
export interface Condition extends ConditionFinding {
  readonly observedGeneration?: number;
  /** ISO 8601. */
  readonly lastTransitionTime: string;
}

/** What an API server takes of a message. */
const MOST_CHARACTERS = 8_000;

/** The findings among the conditions that are there: their time changes only with their status. Others' conditions stay. */
export function withFindings(
  before: readonly Condition[],
  findings: readonly ConditionFinding[],
  observedGeneration: number,
  wallMs: number,
): readonly Condition[] {
  const found = findings.map((finding): Condition => {
    const { type, status, reason, message } = finding;
    const old = before.find((condition) => condition.type === type);
    const isSame = old?.status === status;
    return {
      type,
      status,
      reason,
      message: message.length > MOST_CHARACTERS ? `${message.slice(0, MOST_CHARACTERS - 1)}…` : message,
      observedGeneration,
      lastTransitionTime: isSame ? old.lastTransitionTime : new Date(wallMs).toISOString().replace(/\.\d+Z$/, "Z"),
    };
  });
  const others = before.filter(({ type }) => !findings.some((finding) => finding.type === type));
  return [...found, ...others.filter((condition) => !isPlaceholder(condition))];
}

/** What a CustomResourceDefinition puts there until somebody says something. */
function isPlaceholder({ reason, lastTransitionTime }: Condition): boolean {
  return reason === "Pending" && Date.parse(lastTransitionTime) === 0;
}
