import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Prometheus and its tool come from Debian's package of that name; where they are absent, tests say so. */
export const PROMETHEUS = isThere("prometheus");
export const PROMTOOL = isThere("promtool");
export const NO_PROMETHEUS = "no Prometheus is installed: metrics, dashboard and alerts were NOT tested with it";
if (!PROMETHEUS || !PROMTOOL) console.error(`SKIPPED: ${NO_PROMETHEUS}`);

/** A Prometheus of this test's own. */
export interface Prometheus {
  /** The result of an instant query. Rejects with Prometheus' message if it is wrong. */
  query(expression: string): Promise<readonly PromSample[]>;
  /** The names of the alerts that are firing, with their labels. */
  firing(): Promise<readonly Readonly<Record<string, string>>[]>;
  stop(): Promise<void>;
}

interface PromSample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

const START_MS = 30_000;
/** It ends itself after this, whatever became of the test. */
const LIFE_S = 170;

/** Starts one with these files in a folder of its own; the config is prometheus.yml. Resolves once it answers. */
export async function startPrometheus(files: Readonly<Record<string, string>>): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-prometheus-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    "timeout",
    [
      ...["--signal=KILL", String(LIFE_S), "prometheus", "--log.level=warn", `--web.listen-address=${address}`],
      ...[`--config.file=${join(folder, "prometheus.yml")}`, `--storage.tsdb.path=${join(folder, "data")}`],
    ],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const errors = { text: "" };
  child.stderr.on("data", (chunk: Buffer) => {
    if (errors.text.length < 10_000) errors.text += chunk.toString();
  });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(child.pid!, "SIGTERM");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const ask = async (path: string) => {
    const answer = await fetch(`http://${address}${path}`, { signal: AbortSignal.timeout(10_000) });
    return { status: answer.status, text: await answer.text() };
  };
  try {
    await answering(ask, child, errors);
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  return {
    async query(expression) {
      const { data } = parsed<{ result: { metric: Record<string, string>; value: [number, string] }[] }>(
        await ask(`/api/v1/query?query=${encodeURIComponent(expression)}`),
      );
      return data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    async firing() {
      const { data } = parsed<{ alerts: { state: string; labels: Record<string, string> }[] }>(await ask("/api/v1/alerts"));
      return data.alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels);
    },
    stop,
  };
}

async function answering(
  ask: (path: string) => Promise<{ status: number }>,
  child: ChildProcess,
  errors: { text: string },
): Promise<void> {
  const fromMs = performance.now();
  while ((await ask("/-/ready").catch(() => ({ status: 0 }))).status !== 200) {
    if (child.exitCode !== null || performance.now() - fromMs > START_MS)
      throw new Error(`Prometheus did not start:\n${errors.text}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function parsed<Data>({ text }: { text: string }): { data: Data } {
  const document = JSON.parse(text) as { status: string; error?: string; data: Data };
  if (document.status !== "success") throw new Error(document.error ?? text);
  return document;
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

function isThere(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
}
