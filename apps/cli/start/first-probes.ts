import type { Clock } from "../../../core/contract/clock.ts";
import type { Endpoint } from "../../../core/contract/endpoint.ts";
import { printable } from "../../../core/contract/printable.ts";
import type { Router } from "../../../core/router.ts";
import { routersOfAll } from "../../admin/pool-sites.ts";
import { DEFAULT_ADMIN_URL } from "../frame/command.ts";

/** How long the program waits for the first results of probes, so that its first line says how many replicas are ready. */
const LONGEST_MS = 2_000;
/** A wait as long as this is noticed, so it gets a line of its own. */
const NOTICED_MS = 500;
const LOOK_EVERY_MS = 10;
const MOST_NAMES = 8;

/**
 * Resolves once each replica's first probe has a result and there is at least one replica in each pool, at the latest after two seconds, or
 * when `interrupted` settles: to false in that case, else to true. `noticed` is called when it takes long enough to be noticed,
 * with the number of replicas waited for.
 */
export async function firstProbes(
  router: Router,
  clock: Clock,
  interrupted: Promise<void>,
  noticed: (waitedFor: number) => void,
): Promise<boolean> {
  let isInterrupted = false;
  void interrupted.then(() => {
    isInterrupted = true;
  });
  const startMs = clock.now();
  let isNoticed = false;
  while (!isInterrupted && clock.now() - startMs < LONGEST_MS) {
    const routers = [...routersOfAll(router).values()];
    const waitedFor = routers.reduce((sum, each) => sum + unprobed(each), 0);
    if (waitedFor === 0 && routers.every(({ pool }) => pool.facts.endpoints.length > 0)) break;
    if (!isNoticed && clock.now() - startMs >= NOTICED_MS) {
      isNoticed = true;
      noticed(waitedFor);
    }
    await new Promise<void>((resolve) => clock.after(LOOK_EVERY_MS, resolve));
  }
  return !isInterrupted;
}

/** Replicas whose first probe has no result yet. */
function unprobed({ pool, control }: Router): number {
  return pool.facts.endpoints.filter((endpoint) => endpoint.phase === "starting" && control.probeFailure(endpoint) === "").length;
}

/** The first lines of a running router: where it listens, and what the first probes found, by pool. */
export function greeting(url: string, router: Router): string {
  const pools = [...routersOfAll(router)];
  const [first] = pools;
  const listens = `Signalbox is listening on ${url} for`;
  const lines =
    pools.length === 1
      ? [`${listens} the pool "${first![0]}": ${foundIn(first![1])}`]
      : [`${listens} ${pools.length} pools`, ...pools.map(([name, each]) => `Pool "${name}": ${foundIn(each)}`)];
  const absent = pools.flatMap(([, each]) => absentFrom(each));
  if (absent.length > 0) lines.push(`Not ready: ${firstOf(absent)}`);
  return lines.map((line) => `${printable(line)}\n`).join("");
}

function foundIn({ pool }: Router): string {
  const { endpoints, served } = pool.facts;
  const ready = endpoints.filter(({ isAvailable }) => isAvailable).length;
  return `${ready} of ${endpoints.length} replicas ready, models: ${firstOf([...served]) || "none yet"}`;
}

/** Each replica that is not ready, and why. */
function absentFrom({ pool, control }: Router): readonly string[] {
  const reason = (endpoint: Endpoint) =>
    control.probeFailure(endpoint) || (endpoint.phase === "starting" ? "no response yet" : endpoint.phase);
  const absent = pool.facts.endpoints.filter(({ isAvailable }) => !isAvailable);
  return absent.map((endpoint) => `${endpoint.name} (${reason(endpoint)})`);
}

/** The first lines of the demo; the commands in them ask the admin port at `adminUrl`. */
export function demoGreeting(url: string, adminUrl = DEFAULT_ADMIN_URL): string {
  const where = adminUrl === DEFAULT_ADMIN_URL ? "" : ` --admin ${adminUrl}`;
  return `Signalbox is listening on ${url} with a demo pool: three mock replicas in this process, model "demo", 90/10 rewrite of "food-review".
Try it:

  curl ${url}/v1/chat/completions -H 'Content-Type: application/json' -d '{"model":"food-review","messages":[{"role":"user","content":"Was the soup any good?"}]}'

See what it does:

  signalbox status${where}         # or top, or tail in its place
  signalbox explain${where} ID     # ID is the x-request-id of a response (curl -i)

For your own replicas: signalbox start http://gpu1:8000 http://gpu2:8000
`;
}

/** What is printed before the first lines when the first probes take a while. */
export function waitingNote(url: string, replicas: number): string {
  return `Requests to ${url} are taken; waiting up to two seconds for ${firstResults(replicas)}.\n`;
}

/** The same for a port that other processes may have too, where requests are taken afterwards. */
export function notYetListeningNote(replicas: number): string {
  return `The port may be shared, so requests are taken after ${firstResults(replicas)}, in two seconds at most.\n`;
}

function firstResults(replicas: number): string {
  if (replicas === 0) return "the first result of discovery";
  return `the first probes of ${replicas === 1 ? "one replica" : `${replicas} replicas`}`;
}

function firstOf(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return names.slice(0, MOST_NAMES).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
