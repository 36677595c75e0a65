/** Routers with replicas behind them, which `run.ts` has started, as the tests of clients see them. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { until } from "../support/cli.ts";
import type { AccessLine } from "../support/router.ts";

/** The name that clients ask for. A rewrite makes it that of the served adapter. */
export const MODEL = "client-model";
export const SERVED = "food-review-v1";
/** An adapter that the replicas have beside it. */
export const OTHER = "food-review-v2";
export const KEY = "sk-key-of-the-clients";
export const KEY_NAME = "clients";

/** A line of the access log, with the fields that tell how a request was served. */
export interface ServedLine extends AccessLine {
  readonly method: string;
  readonly key: string;
  readonly stream: boolean | null;
  readonly promptTokens: number | null;
  readonly outputTokens: number | null;
  readonly outputEstimated: boolean;
}

/** Where a router is that runs. */
export interface StackPlace {
  /** Of the replicas behind it. */
  readonly name: string;
  /** Their texts are words, always the same ones for the same request. */
  readonly isMock: boolean;
  readonly url: string;
  /** The file that has the access log. */
  readonly log: string;
}

export interface Stack extends StackPlace {
  /** What the router has logged of requests so far. */
  lines(): readonly ServedLine[];
}

/** The variable that names the routers, as JSON. */
export const STACKS = "SIGNALBOX_CLIENTS_STACKS";

export function stacks(): readonly Stack[] {
  const places = JSON.parse(process.env[STACKS] ?? "[]") as readonly StackPlace[];
  return places.map((place) => ({ ...place, lines: () => linesOf(readFileSync(place.log, "utf8")) }));
}

function linesOf(log: string): readonly ServedLine[] {
  const whole = log.slice(0, log.lastIndexOf("\n") + 1);
  return whole
    .split("\n")
    .filter((line) => line.startsWith("{") && line.includes('"path"'))
    .map((line) => JSON.parse(line) as ServedLine);
}

/** The lines of requests since `from` of them, once there are `count` or more: a line is written when the client has its response. */
export async function linesSince(stack: Stack, from: number, count = 1): Promise<readonly ServedLine[]> {
  await until(() => stack.lines().length >= from + count);
  return stack.lines().slice(from);
}

/** Says of requests in the log that a replica served them under the served name, to the client of the key, and reported their tokens. */
export function assertServed(lines: readonly ServedLine[], path: string): void {
  assert.ok(lines.length > 0, `Nothing came to ${path}`);
  for (const line of lines) {
    const { status, ending, error, flags, model, target, key, outputEstimated } = line;
    const told = { path: line.path, status, ending, error, flags, model, target, key, outputEstimated };
    const good = { status: 200, ending: "complete", error: "", flags: "", model: MODEL, target: SERVED, key: KEY_NAME };
    assert.deepEqual(told, { path, ...good, outputEstimated: false });
    assert.deepEqual(
      line.attempts.map(({ result }) => result),
      [200],
    );
    assert.ok((line.promptTokens ?? 0) > 0 && (line.outputTokens ?? 0) > 0, JSON.stringify(line));
  }
}

/** The same for the lines of each of these paths. */
export function assertServedAt(lines: readonly ServedLine[], paths: readonly string[]): void {
  for (const path of paths)
    assertServed(
      lines.filter((line) => line.path === path),
      path,
    );
}
