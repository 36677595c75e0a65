import { growthOf, growthProblems } from "./growth.ts";
import { restProblems } from "./rest.ts";
import type { Findings, SoakOptions } from "./soak.ts";

const MOST_LISTED = 10;

/** Sentences that say why the run failed; none if it passed. */
export function problemsOf(findings: Findings): readonly string[] {
  const { results, unexplained, disturbances, pluginFaults, samples, rest, filesBefore, uncaught, endedEarly, exitCode } =
    findings;
  const mustNotBe = (["wrong", "damaged", "mixed up", "hung"] as const).filter((name) => results[name] > 0);
  return [
    ...(endedEarly === undefined ? [] : [`the router ${endedEarly}`]),
    ...(results.served > 0 && disturbances.size > 0 && pluginFaults > 0 ? [] : ["too little happened: run it longer"]),
    ...mustNotBe.map((name) => `${results[name]} responses: ${name}`),
    ...(unexplained.length > 0 ? [`${unexplained.length} requests failed that met no disturbed replica`] : []),
    ...unexplained.slice(0, MOST_LISTED).map(([id, logged]) => `unexplained: ${id} ${JSON.stringify(logged)}`),
    ...(rest === undefined ? [] : restProblems(rest, filesBefore)),
    ...growthProblems(growthOf(samples)),
    ...uncaught.map((line) => `an error that no code caught: ${line}`),
    ...(exitCode === 0 ? [] : [`the router ended with code ${exitCode}`]),
  ];
}

/** One line with the figures of a run. */
export function summaryOf({ runtime, minutes }: SoakOptions, findings: Findings, hasPassed: boolean): string {
  const { results, unexplained, disturbances, pluginFaults, starvedMs, samples, rest, filesBefore } = findings;
  const total = Object.values(results).reduce((sum, count) => sum + count, 0);
  const counts = Object.entries(results).map(([name, count]) => `${count} ${name}`);
  const disturbed = [...disturbances.values()].reduce((sum, count) => sum + count, 0);
  const { residentPerRequest, livePerRequest } = growthOf(samples);
  return [
    `soak on ${runtime}: ${hasPassed ? "passed" : "FAILED"}, ${minutes} min`,
    `${total} requests (${counts.join(", ")}, ${unexplained.length} unexplained)`,
    `${disturbed} disturbances of ${disturbances.size} kinds, ${pluginFaults} faults of plugins`,
    `files ${filesBefore} before, ${rest?.openFiles ?? "?"} after`,
    `resident ${Math.round((samples.at(-1)?.resident ?? 0) / 1e6)} MB, ${signed(residentPerRequest)} bytes a request`,
    `live ${((samples.at(-1)?.live ?? 0) / 1e6).toFixed(1)} MB, ${signed(livePerRequest)} bytes a request`,
    ...(starvedMs > 0 ? [`${Math.round(starvedMs / 1000)} s with too little processor`] : []),
  ].join("; ");
}

function signed(bytes: number): string {
  return `${bytes < 0 ? "" : "+"}${Math.round(bytes)}`;
}
