import type { MirrorStatus, ShadowStatus } from "../admin/beside-status.ts";

/** A line for each mirror of a rule. */
export function mirrorLines({ mirrors }: { readonly mirrors: readonly MirrorStatus[] }): readonly string[] {
  return mirrors.map(({ target, percent, sent, inFlight, results, skipped, ...times }) => {
    const counts = [
      `${sent} sent`,
      inFlight === 0 ? "" : `${inFlight} under way`,
      ...Object.entries(results).map(([result, count]) => `${result} ${count}`),
      ...Object.entries(skipped).map(([reason, count]) => `not sent (${reason}) ${count}`),
      timesText(times),
    ];
    return `    mirrored ${percent}% to ${target}: ${counts.filter((text) => text !== "").join(", ")}`;
  });
}

function timesText({
  meanFirstByteMs,
  originalMeanFirstByteMs,
}: Pick<MirrorStatus, "meanFirstByteMs" | "originalMeanFirstByteMs">): string {
  if (meanFirstByteMs === null || originalMeanFirstByteMs === null) return "";
  return `first byte after ${Math.round(meanFirstByteMs)} ms, of its requests ${Math.round(originalMeanFirstByteMs)} ms`;
}

/** How the shadow profile differs; nothing without one. */
export function shadowLines(shadow: ShadowStatus | null): readonly string[] {
  if (shadow === null) return [];
  const { name, decisions, disagreements, meanDifferenceMs, faults, skipped } = shadow;
  const counts = [
    `would have chosen otherwise for ${disagreements} of ${decisions} requests`,
    meanDifferenceMs === null ? "" : `${meanDifferenceMs.toFixed(1)} ms to the first token added on average, as expected`,
    faults === 0 ? "" : `${faults} faults`,
    skipped === 0 ? "" : `${skipped} not decided because it is slow`,
  ];
  return [`shadow ${name}: ${counts.filter((text) => text !== "").join("; ")}`];
}
