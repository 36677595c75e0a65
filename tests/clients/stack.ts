/** Replicas with a router in front of them, all started as users start them, for the clients of this folder. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Running, signalbox, until } from "../support/cli.ts";
import type { AccessLine } from "../support/router.ts";

/** The name that clients ask for. A rewrite makes it that of the served adapter. */
export const MODEL = "client-model";
const SERVED = "food-review-v1";
export const KEY = "sk-key-of-the-clients";
const KEY_NAME = "clients";

/** A line of the access log, with the fields that tell how a request was served. */
export interface ServedLine extends AccessLine {
  readonly method: string;
  readonly key: string;
  readonly stream: boolean | null;
  readonly promptTokens: number | null;
  readonly outputTokens: number | null;
  readonly outputEstimated: boolean;
}

export interface Stack {
  readonly url: string;
  /** What the router has logged of requests so far. */
  lines(): readonly ServedLine[];
  close(): Promise<void>;
}

export interface Engine {
  readonly name: string;
  /** Its texts are words, always the same ones for the same request. */
  readonly isMock: boolean;
  start(): Promise<Stack>;
}

/** The engines that clients are tried with: mock replicas, and the real vLLM that `run.ts` has started, if there is one. */
export function engines(): readonly Engine[] {
  const vllm = process.env["SIGNALBOX_CLIENTS_VLLM"];
  const mock = { name: "two mock replicas", isMock: true, start: startWithMocks };
  return vllm ? [mock, { name: "a real vLLM", isMock: false, start: () => startRouter([vllm], []) }] : [mock];
}

async function startWithMocks(): Promise<Stack> {
  const words = ["mock", "--port", "0", "--model", "tiny", "--adapters", SERVED, "--time-scale", "0.1"];
  const mocks = [signalbox(...words), signalbox(...words)];
  const urls = await Promise.all(mocks.map((mock) => urlIn(mock, /http:\/\/\S+/)));
  return startRouter(urls, mocks);
}

async function startRouter(urls: readonly string[], others: readonly Running[]): Promise<Stack> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-clients-"));
  writeFileSync(join(folder, "signalbox.yaml"), configText());
  const router = signalbox("start", "--port", "0", "-f", join(folder, "signalbox.yaml"), ...urls);
  const url = await urlIn(router, /(?<=listening on )http:\/\/[^ "]+(?= )/);
  return {
    url,
    lines: () => linesOf(router.output.out),
    async close() {
      for (const { child } of [router, ...others]) child.kill("SIGTERM");
      await Promise.all([router, ...others].map(({ ended }) => ended));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const configText = () => `apiVersion: signalbox/v1
kind: Router
spec:
  admin: false
  pool: { name: default }
  auth:
    keys:
      - { name: ${KEY_NAME}, sha256: ${createHash("sha256").update(KEY).digest("hex")} }
---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: clients }
spec:
  poolRef: { name: default }
  rules:
    - matches: [ { model: { type: Exact, value: ${MODEL} } } ]
      targets: [ { modelRewrite: ${SERVED} } ]
`;

/** The address that a program says it listens on. */
async function urlIn({ output }: Running, pattern: RegExp): Promise<string> {
  await until(() => pattern.test(output.out + output.err));
  return pattern.exec(output.out + output.err)?.[0] ?? "";
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
