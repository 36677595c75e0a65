import type { SoakRouter } from "./router.ts";

/** What the router still counts when no client is there. */
export interface Rest {
  readonly inFlight: number;
  readonly prefillTokens: number;
  readonly upstreamConnections: number;
  readonly clientConnections: number;
  /** Of request bodies and unread responses. */
  readonly heldBytes: number;
  readonly openFiles: number;
}

/** After so long all must have come back: idle connections to replicas are closed after 3 s. */
const LIMIT_MS = 60_000;
const LOOK_MS = 500;
/** Probes and this process's own look at the router come and go, and a runtime opens some files of its own later. */
const FILE_SLACK = 8;

/** Sentences that name what has not come back to its base. */
export function restProblems(rest: Rest, filesBefore: number): readonly string[] {
  const counted = Object.entries(rest).filter(([name, count]) => name !== "openFiles" && count !== 0);
  const problems = counted.map(([name, count]) => `at rest ${name} is ${count}`);
  if (rest.openFiles > filesBefore + FILE_SLACK) problems.push(`${rest.openFiles} open files at rest, ${filesBefore} before`);
  return problems;
}

/** Waits until all is back to its base, and returns what was there last; undefined when the router has ended. */
export async function awaitRest(router: SoakRouter, filesBefore: number): Promise<Rest | undefined> {
  const endMs = Date.now() + LIMIT_MS;
  while (router.ended === undefined) {
    const rest = await restOf(router);
    if (restProblems(rest, filesBefore).length === 0 || Date.now() > endMs) return rest;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return undefined;
}

async function restOf(router: SoakRouter): Promise<Rest> {
  const { endpoints, clientConnections, memory } = await router.status();
  const sum = (count: (endpoint: (typeof endpoints)[number]) => number) =>
    endpoints.reduce((total, endpoint) => total + count(endpoint), 0);
  return {
    inFlight: sum(({ inFlight }) => inFlight),
    prefillTokens: sum(({ prefillTokens }) => prefillTokens),
    upstreamConnections: sum(({ connections }) => connections),
    clientConnections,
    heldBytes: memory.bodyBytes + memory.unreadBytes,
    openFiles: router.openFiles,
  };
}
