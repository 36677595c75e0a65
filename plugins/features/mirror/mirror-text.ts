import type { MirrorSkip } from "../../../core/contract/mirror.ts";
import type { DecisionReport, MirrorReport } from "../../../core/report/report-schema.ts";
import type { MirrorStatus } from "./mirror-status.ts";

const SKIPPED: Readonly<Record<MirrorSkip, string>> = {
  "same-target": "the request itself went to that target",
  "not-repeatable": "the replica would store a second result",
  "in-flight": "the mirror had as many copies under way as it may have",
  memory: "memory for bodies was short",
  "no-endpoint": "no available replica could take it",
  connections: "the replica had few connections to spare",
  fault: "a plugin failed",
};

/** A row for each copy of a request. */
export function mirrorRows({ mirrors }: DecisionReport): readonly (readonly [string, string])[] {
  return mirrors.map((mirror) => ["mirror", mirrorText(mirror)]);
}

/** What a copy of a request met, for people. */
export function mirrorText({ target, endpoint, skipped, status, firstByteMs, ending }: MirrorReport): string {
  if (skipped !== "") return `not mirrored as ${target}: ${SKIPPED[skipped]}`;
  const words = [
    status === 0 ? "" : `status ${status}`,
    firstByteMs === null ? "" : `first byte after ${Math.round(firstByteMs)} ms`,
    ending === "" ? "still under way" : ending === "complete" ? "" : ending,
  ];
  return `mirrored to ${endpoint} as ${target}: ${words.filter((word) => word !== "").join(", ")}`;
}

/** A line for each mirror of a rule. */
export function mirrorLines({ mirrors = [] }: { readonly mirrors?: readonly MirrorStatus[] }): readonly string[] {
  return mirrors.map((mirror) => {
    const { target, percent, sent, inFlight, results, skipped } = mirror;
    const counts = [
      `${sent} sent`,
      inFlight === 0 ? "" : `${inFlight} under way`,
      ...Object.entries(results).map(([result, count]) => `${result} ${count}`),
      ...Object.entries(skipped).map(([reason, count]) => `not sent (${reason}) ${count}`),
      timesText(mirror),
    ];
    return `    mirrored ${percent}% to ${target}: ${counts.filter((text) => text !== "").join(", ")}`;
  });
}

function timesText({ meanFirstByteMs: ms, originalMeanFirstByteMs: originalMs }: MirrorStatus): string {
  if (ms === null || originalMs === null) return "";
  return `first byte after ${Math.round(ms)} ms, of its requests ${Math.round(originalMs)} ms`;
}
