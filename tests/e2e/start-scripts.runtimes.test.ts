import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, it } from "node:test";
import { openClient } from "../support/raw-client.ts";
import { waitUntil } from "../support/router.ts";
import { chatPost, event, STREAM } from "../support/scripted-pool.ts";
import { chunkOf, LAST_CHUNK, STREAM_HEAD, startScriptedReplica } from "../support/scripted-replica.ts";

const root = join(import.meta.dirname ?? ".", "..", "..");

/** How this runtime's users start the router from a checkout. */
function startScript(): { readonly name: string; readonly command: string; readonly words: readonly string[] } {
  const { execPath, versions } = process;
  if (versions["deno"] !== undefined) return { name: "deno task start", command: execPath, words: ["task", "start"] };
  if (versions["bun"] !== undefined) return { name: "bun run start", command: execPath, words: ["run", "start"] };
  return { name: "npm start", command: "npm", words: ["start", "--"] };
}

/** The same by way of npx, which has no "start" of its own. */
function npxWords(): readonly string[] {
  const { deno, bun } = process.versions;
  if (deno !== undefined) return ["deno", ...words];
  return bun !== undefined ? ["bun", ...words] : ["node", "apps/cli/signalbox.mjs", "start"];
}

/** Ids of the processes that have `word` in their command line. */
function processesWith(word: string): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(word);
    } catch {
      return false;
    }
  });
}

const { name, command, words } = startScript();

const cases = [
  { signal: "SIGTERM", to: `"${name}"` },
  { signal: "SIGINT", to: `"${name}"` },
  // Like Ctrl-C: the router gets it from the terminal, and maybe once more from the process that started it.
  { signal: "SIGINT", to: `every process of "${name}"` },
  { signal: "SIGTERM", to: `npx, before "${name}"`, isByNpx: true },
] as const;

for (const { signal, to, ...how } of cases) {
  it(`${signal} to ${to} reaches the router: its stream ends whole, and no process is left`, {
    timeout: 60_000,
  }, async () => {
    const streams: Socket[] = [];
    const replica = await startScriptedReplica((_request, socket) => {
      socket.write(STREAM_HEAD + chunkOf(event(1)));
      streams.push(socket);
    });
    const folder = mkdtempSync(join(tmpdir(), "signalbox-script-"));
    const file = join(folder, "signalbox.yaml");
    writeFileSync(file, `apiVersion: signalbox/v1\nkind: Router\nspec: { pool: { endpoints: [ { url: "${replica.url}" } ] } }\n`);
    const child = spawn(
      "isByNpx" in how ? "npx" : command,
      [...("isByNpx" in how ? npxWords() : words), "--port", "0", "--admin-port", "0", "-f", file],
      {
        cwd: root,
        env: { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"]}` },
        stdio: ["ignore", "pipe", "pipe"],
        // In a process group of its own, so that the test can end what is left.
        detached: true,
      },
    );
    after(async () => {
      for (const left of processesWith(file)) process.kill(Number(left), "SIGKILL");
      await replica.close();
      rmSync(folder, { recursive: true });
    });
    let output = "";
    const keep = (chunk: Buffer) => {
      output += chunk.toString();
    };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", keep);
    let hasExited = false;
    child.once("exit", () => {
      hasExited = true;
    });
    await waitUntil(() => /listening on http:\/\/[^ ]+:\d+/.test(output), 30_000);
    const client = await openClient(Number(/listening on http:\/\/[^ ]+:(\d+)/.exec(output)?.[1]));
    client.send(chatPost(STREAM));
    await client.until((text) => text.includes(event(1)));

    process.kill(to.startsWith("every") ? -child.pid! : child.pid!, signal);
    await waitUntil(() => output.includes("Stopping: waiting for requests in progress"));
    assert.ok(!client.isClosed);
    streams[0]!.write(LAST_CHUNK);
    assert.ok((await client.closed()).endsWith(LAST_CHUNK));
    await waitUntil(() => hasExited && processesWith(file).length === 0);
  });
}
