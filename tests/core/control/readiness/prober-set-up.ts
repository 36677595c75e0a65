import assert from "node:assert/strict";
import type { Endpoint } from "../../../../core/contract/endpoint.ts";
import { parseEndpointUrl } from "../../../../core/contract/endpoint-url.ts";
import { silentLog } from "../../../../core/contract/log.ts";
import type { Source } from "../../../../core/contract/source.ts";
import { Prober, type ProberOptions } from "../../../../core/control/readiness/prober.ts";
import type { ReplicaHealth } from "../../../../core/control/readiness/replica-health.ts";
import { PROBE_DEFAULTS } from "../../../../core/settings/tables.ts";
import { LoadTable } from "../../../../core/state/load.ts";
import { GetError, type GetFailure } from "../../../../core/wire/get-error.ts";
import type { HttpGet } from "../../../../core/wire/http-get-result.ts";
import { makeEndpoint } from "../../../support/endpoints.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

/** What a replica returns for one path: a body with 200, a status, a failure, or nothing until the timeout. */
export type Result = string | number | GetFailure;

export const LIST = JSON.stringify(["base"]);

export const UP: Readonly<Record<string, Result>> = { "/v1/models": LIST, "/health": 200 };

export const DOWN: Readonly<Record<string, Result>> = { "/v1/models": "refused", "/health": "refused" };

const FAILURES: ReadonlySet<Result> = new Set([
  "refused",
  "no such host",
  "unreachable",
  "timeout",
  "reset",
  "invalid",
  "too-large",
]);

export const modelList: Source = {
  path: "/v1/models",
  periodMs: 10_000,
  read: (body) => ({ models: JSON.parse(body) as string[] }),
};

export const metrics: Source = { path: "/metrics", periodMs: 1_000, read: (body) => JSON.parse(body) as { waiting: number } };

export interface Call {
  readonly host: string;
  readonly path: string;
  readonly atMs: number;
  readonly timeoutMs: number;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** A prober whose replicas are a table of results, with a clock that the test moves. */
export function setup(options: Partial<ProberOptions> = {}) {
  const clock = new FakeClock();
  const load = new LoadTable();
  const results = new Map<string, Readonly<Record<string, Result>>>();
  const calls: Call[] = [];
  const changes: string[] = [];
  const health = new Map<string, ReplicaHealth>();
  const open = new Map<string, number>();
  let mostOpen = 0;

  const get: HttpGet = async ({ url }, path, timeoutMs, maxBytes, signal) => {
    calls.push({ host: url.hostname, path, atMs: clock.now(), timeoutMs, maxBytes, signal });
    const key = `${url.hostname}${path}`;
    open.set(key, (open.get(key) ?? 0) + 1);
    mostOpen = Math.max(mostOpen, open.get(key) ?? 0);
    const result = results.get(url.hostname)?.[path] ?? 404;
    if (result === "timeout") await new Promise<void>((resolve) => clock.after(timeoutMs, resolve));
    open.set(key, (open.get(key) ?? 0) - 1);
    if (typeof result === "number") return { status: result, body: "" };
    if (FAILURES.has(result)) throw new GetError(result as GetFailure, "as the test asked");
    return { status: 200, body: result };
  };
  const changed = (name: string, now: ReplicaHealth) => {
    if (health.get(name)?.phase !== now.phase) changes.push(`${name} ${now.phase}`);
    health.set(name, now);
  };
  const prober = new Prober({
    clock,
    load,
    get,
    changed,
    random: () => 0,
    probes: PROBE_DEFAULTS,
    sources: [modelList],
    log: silentLog,
    ...options,
  });
  const phase = (name: string) => health.get(name)?.phase ?? "starting";
  const paths = (sinceMs: number) => calls.filter((call) => call.atMs >= sinceMs).map((call) => call.path);
  return { clock, load, results, calls, changes, health, prober, phase, paths, mostOpen: () => mostOpen };
}

export function target(name: string, slot = 0, url = `http://${name}:8000`): Endpoint {
  return makeEndpoint(slot, { name, url: parseEndpointUrl(url) });
}

/** One replica that responds on all paths and is in service. */
export async function inService(options: Partial<ProberOptions> = {}, results = UP) {
  const world = setup(options);
  world.results.set("a", results);
  world.prober.watch([target("a")]);
  await world.clock.advance(0);
  assert.equal(world.phase("a"), "ready");
  return world;
}
