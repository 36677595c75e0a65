import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { AdminServer } from "../../apps/admin/server.ts";
import { widthOf } from "../../core/report/text-width.ts";
import { startTestAdmin } from "../support/admin.ts";
import { run, runProcess, until } from "../support/cli.ts";
import { makeEndpoint } from "../support/endpoints.ts";
import { closeTerminals, fileInTerminal, inTerminal, NO_TERMINAL, type Terminal } from "../support/terminal.ts";
import { makeShownRouter } from "../support/view.ts";

const TIMEOUT = { timeout: 60_000 };
const SUPPORT = join(import.meta.dirname ?? ".", "..", "support");
const [SIGINT, SIGTERM, CTRL_C] = [2, 15, "\u0003"];

const router = makeShownRouter(
  Array.from({ length: 50 }, (_, index) =>
    makeEndpoint(index, { models: ["\u001b[31mred"], ...(index === 7 && { name: "模型-7" }) }),
  ),
);
let admin: AdminServer;
before(async () => {
  admin = await startTestAdmin(router);
});
after(async () => {
  closeTerminals();
  await admin.close();
});

/** The lines of each table that was drawn. */
function drawn({ text }: Terminal): readonly (readonly string[])[] {
  return text
    .split("\u001b[H")
    .slice(1)
    .map((table) => table.split("\u001b[J")[0]!.split("\u001b[K\r\n"));
}

describe("a table that is drawn anew", { skip: NO_TERMINAL }, () => {
  const url = () => `http://127.0.0.1:${admin.port}`;
  const rows: readonly (readonly [words: readonly string[], end: number | string])[] = [
    [["top", "0.5"], SIGINT],
    [["top", "3600", "--sort", "inflight"], SIGTERM],
    [["top", "3600"], "q"],
    [["status", "--watch", "0.5"], CTRL_C],
  ];
  for (const [words, end] of rows) {
    it(`${words.join(" ")}: fits the terminal, and gives it back as it was`, TIMEOUT, async () => {
      const terminal = inTerminal(60, 12, ...words, "--admin", url());
      await until(() => drawn(terminal).length >= (words[1] === "3600" ? 1 : 3));
      if (typeof end === "string") terminal.press(end);
      else terminal.send(end);
      await until(() => /exit \d+\r?\n$/.test(terminal.text));
      const [first = []] = drawn(terminal);
      assert.ok(first.length <= 12, `${first.length} rows`);
      for (const line of first) assert.ok(widthOf(line.replace("\u001b[K", "")) <= 60, line);
      if (words[0] === "status") assert.ok(first.some((line) => line.endsWith("…")));
      assert.match(first[0] ?? "", /^Pool "llama": 50 of 50 replicas ready/);
      assert.match(terminal.text, /^\u001b\[\?1049h\u001b\[\?25l\u001b\[\?7l/);
      assert.match(terminal.text, /\u001b\[\?7h\u001b\[\?1049l\u001b\[\?25hexit 0\r?\n$/);
      assert.doesNotMatch(terminal.text, /\u001b\[31m/);
    });
  }

  for (const how of ["throw", "reject"]) {
    it(`gives the terminal back after an error that nobody caught (${how}), and shows it`, TIMEOUT, async () => {
      const terminal = fileInTerminal(join(SUPPORT, "crashing-screen-process.ts"), 80, 20, how);
      await until(() => terminal.text.includes("exit 1"));
      assert.match(terminal.text, /drawn[\s\S]*\u001b\[\?7h\u001b\[\?1049l\u001b\[\?25h[\s\S]*boom/);
      assert.doesNotMatch(terminal.text.slice(0, terminal.text.indexOf("\u001b[?25h")), /boom/);
    });
  }

  it("status --watch shows every column in 80 columns, and aligns them", TIMEOUT, async () => {
    const terminal = inTerminal(80, 30, "status", "--watch", "3600", "--admin", url());
    await until(() => drawn(terminal).length >= 1);
    terminal.press("q");
    await until(() => terminal.text.includes("exit 0"));
    const [lines = []] = drawn(terminal);
    assert.ok(lines.some((line) => /^replica .*phase.*flight.*tokens.*waiting.*running.*cache.*connections.*models$/.test(line)));
    assert.ok(lines.some((line) => /^模型-7 .* \S+$/.test(line)));
  });

  it("goes on while the router is away, and says since when", TIMEOUT, async () => {
    const first = await startTestAdmin(router);
    const terminal = inTerminal(100, 20, "top", "0.5", "--admin", `http://127.0.0.1:${first.port}`);
    await until(() => drawn(terminal).length >= 1);
    await first.close();
    await until(() => /! This is how it was at .*Z\. Nobody listens at/.test(terminal.text));
    const second = await startTestAdmin(router, { port: first.port });
    await until(() => drawn(terminal).at(-1)?.[0]?.startsWith("Pool") ?? false);
    terminal.send(SIGINT);
    await until(() => terminal.text.endsWith("exit 0\n"));
    await second.close();
  });

  it("is printed once where the output is no terminal", TIMEOUT, async () => {
    for (const words of [["top"], ["status", "--watch"]]) {
      const { code, out, err } = await runProcess(...words, "--admin", url());
      assert.deepEqual([code, err], [0, ""]);
      assert.doesNotMatch(out, /\u001b/);
      assert.match(out, /^Pool "llama"[\s\S]*\nreplica +phase[\s\S]*\ne49 /);
    }
  });

  it("says what is wrong with what is asked", TIMEOUT, async () => {
    const wrong: readonly (readonly [words: readonly string[], code: number, text: RegExp])[] = [
      [["top", "--sort", "size", "--admin", url()], 2, /--sort wants one of name, inflight, .* not "size"/],
      [["top", "0", "--admin", url()], 2, /SECONDS wants a number from 0.5 to 3600, not "0"/],
      [["status", "--watch", "1", "2", "--admin", url()], 2, /at most one word/],
      [["status", "--watch", "--json", "--admin", url()], 2, /no JSON/],
      [["top", "--admin", "http://127.0.0.1:9"], 4, /Nobody listens/],
    ];
    for (const [words, code, text] of wrong) {
      const ended = await run(...words);
      assert.match(ended.err, text);
      assert.deepEqual([ended.code, ended.out], [code, ""]);
    }
  });
});
