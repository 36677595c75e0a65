import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { AdminServer } from "../../apps/admin/server.ts";
import type { DecisionReport } from "../../core/report/report-schema.ts";
import { askFor, startTestAdmin } from "../support/admin.ts";
import { killAll, type Running, run, signalbox, until } from "../support/cli.ts";
import { exchange, postBytes } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { answerOk } from "../support/scripted-pool.ts";
import { type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const TIMEOUT = { timeout: 60_000 };

let replica: ScriptedReplica;
let router: TestRouter;
let admin: AdminServer;
before(async () => {
  replica = await startScriptedReplica(answerOk);
  router = await startTestRouter([replica.url], { spec: "  pool: { adapters: { unlisted: none } }\n" });
  admin = await startTestAdmin(router.router);
});
after(async () => {
  killAll();
  await admin.close();
  await router.close();
  await replica.close();
});

const ask = (id: string, model = "m") =>
  exchange(router.port, postBytes("/v1/chat/completions", `{"model":"${model}","messages":[]}`, `X-Request-Id: ${id}\r\n`));

/** Sends requests until the program has printed one of them: from then on it listens. */
async function startTail(port: number, ...words: string[]): Promise<Running> {
  const tail = signalbox("tail", "--admin", `http://127.0.0.1:${port}`, ...words);
  for (let i = 0; i < 1_000 && !tail.output.out.includes("warm-up"); i++) {
    await ask(`warm-up-${i}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return tail;
}

describe("signalbox tail", () => {
  it("prints a line for each decision that is asked for, and ends quietly at Ctrl-C", TIMEOUT, async () => {
    const tail = await startTail(admin.port, "--status", "2xx", "--model", "m");
    await ask("unknown", "other");
    await ask("known");
    await until(() => tail.output.out.includes("known"));
    const name = `127.0.0.1-${replica.port}`;
    assert.match(
      tail.output.out,
      new RegExp(`^\\d\\d:\\d\\d:\\d\\d\\.\\d{3}  200 +\\d+ ms  first \\d+ ms +m  ${name}  known$`, "m"),
    );
    assert.doesNotMatch(tail.output.out, /unknown/);
    process.kill(tail.child.pid!, "SIGINT");
    assert.equal(await tail.ended, 0);
    assert.equal(tail.output.err, "");
  });

  it("prints whole explanations, or JSON", TIMEOUT, async () => {
    const explained = await startTail(admin.port, "--explain");
    const json = await startTail(admin.port, "--json");
    await ask("both");
    await until(() => explained.output.out.includes("both,") && json.output.out.includes('"both"'));
    assert.match(explained.output.out, /was the only candidate[\s\S]*both, chat-completions/);
    const reports = json.output.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as DecisionReport);
    const page = JSON.parse((await askFor(admin.port, "/decisions?id=both")).body) as { decisions: DecisionReport[] };
    assert.deepEqual(reports.at(-1), page.decisions[0]);
    for (const { child } of [explained, json]) process.kill(child.pid!, "SIGTERM");
    assert.deepEqual([await explained.ended, await json.ended], [0, 0]);
  });

  it("connects again when the router restarts, and says so", TIMEOUT, async () => {
    const first = await startTestAdmin(router.router);
    const tail = await startTail(first.port);
    await first.close();
    await until(() => tail.output.err.includes("trying again every 2 s"));
    const second = await startTestAdmin(router.router, { port: first.port });
    await until(() => tail.output.err.includes("Connected again"));
    await ask("after");
    await until(() => tail.output.out.includes("after"));
    assert.match(tail.output.err, /^signalbox: The router ended the stream; trying[^\n]*\nsignalbox: Connected again; [^\n]*\n$/);
    process.kill(tail.child.pid!, "SIGINT");
    assert.equal(await tail.ended, 0);
    await second.close();
  });

  it("ends quietly when nobody can read it any more", TIMEOUT, async () => {
    const tail = await startTail(admin.port);
    tail.child.stdout?.destroy();
    let code: number | null | undefined;
    void tail.ended.then((seen) => {
      code = seen;
    });
    for (let i = 0; i < 500 && code === undefined; i++) {
      await ask(`unread-${i}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.equal(code, 0);
    assert.equal(tail.output.err, "");
  });

  it("is not frozen by an output that nobody reads, nor is the router", TIMEOUT, async () => {
    const tail = await startTail(admin.port, "--explain");
    tail.child.stdout?.pause();
    for (let i = 0; i < 300; i++) await ask(`unread-${i}`);
    process.kill(tail.child.pid!, "SIGINT");
    tail.child.stdout?.resume();
    assert.equal(await tail.ended, 0);
  });

  it("says what is wrong with what is asked", TIMEOUT, async () => {
    const url = `http://127.0.0.1:${admin.port}`;
    const rows: readonly (readonly [words: readonly string[], code: number, text: RegExp])[] = [
      [["--admin", url, "--status", "ok"], 2, /"status" wants a status such as 502/],
      [["--admin", url, "--slow", "fast"], 2, /--slow wants a time such as 500/],
      [["--admin", url, "more"], 2, /takes no further words/],
      [["--admin", "http://127.0.0.1:9"], 4, /Nobody listens at http:\/\/127\.0\.0\.1:9/],
      [["--admin", replica.url], 4, /is not a router's admin port/],
    ];
    for (const [words, code, text] of rows) {
      const ended = await run("tail", ...words);
      assert.match(ended.err, text);
      assert.equal(ended.code, code);
      assert.equal(ended.out, "");
    }
  });
});
