import { table } from "./table.ts";

/** How requests were split over the targets of a rule. */
export interface SplitReport {
  readonly model: string;
  readonly requests: number;
  readonly targets: readonly TargetCount[];
  /** What responses named instead, with their counts: other models, or why there was no model. */
  readonly unexpected: Readonly<Record<string, number>>;
  readonly isAsWeighted: boolean;
}

interface TargetCount {
  readonly name: string;
  readonly weight: number;
  /** As many as the weights say, and how far `count` may be from it. */
  readonly expected: number;
  readonly tolerance: number;
  readonly count: number;
  readonly isAsWeighted: boolean;
}

/**
 * Counts who served. The router's own draw is exact, but other clients take a part of it: what is left for this test is never worse
 * than chance, so three standard deviations are allowed.
 */
export function splitReport(
  model: string,
  targets: readonly { readonly name: string; readonly weight: number }[],
  served: readonly string[],
): SplitReport {
  const sum = targets.reduce((total, { weight }) => total + weight, 0);
  const counts = targets.map(({ name, weight }) => {
    const share = sum === 0 ? 0 : weight / sum;
    const expected = served.length * share;
    const tolerance = 3 * Math.sqrt(served.length * share * (1 - share));
    const count = served.filter((each) => each === name).length;
    return { name, weight, expected, tolerance, count, isAsWeighted: Math.abs(count - expected) <= tolerance };
  });
  const names = new Set(targets.map(({ name }) => name));
  const unexpected = new Map<string, number>();
  for (const name of served) if (!names.has(name)) unexpected.set(name, (unexpected.get(name) ?? 0) + 1);
  return {
    model,
    requests: served.length,
    targets: counts,
    unexpected: Object.fromEntries(unexpected),
    isAsWeighted: unexpected.size === 0 && counts.every(({ isAsWeighted }) => isAsWeighted),
  };
}

/** The report as text for people. */
export function splitText({ model, requests, targets, unexpected, isAsWeighted }: SplitReport): string {
  const rows = targets.map((target) => [
    target.name,
    String(target.weight),
    expectedText(target),
    String(target.count),
    target.isAsWeighted ? "" : "off",
  ]);
  const lines = table(["left", "right", "right", "right", "left"], [["target", "weight", "expected", "served", ""], ...rows]);
  const others = Object.entries(unexpected).map(([name, count]) => `unexpected: ${name}, ${count} times`);
  const verdict = isAsWeighted ? "The split is as the weights say." : "The split is not as the weights say.";
  return `${[`${requests} requests for "${model}"`, ...lines, ...others, verdict].join("\n")}\n`;
}

function expectedText({ expected, tolerance }: TargetCount): string {
  const rounded = Math.round(expected * 10) / 10;
  return tolerance === 0 ? String(rounded) : `${rounded} ± ${Math.floor(tolerance)}`;
}
