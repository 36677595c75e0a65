import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { printableLines } from "../../../core/contract/printable.ts";
import { killAll, run, runProcess, signalbox, until } from "../../support/cli.ts";
import { startScriptedReplica } from "../../support/scripted-replica.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-cli-"));
after(() => {
  killAll();
  rmSync(folder, { recursive: true });
});

describe("the command line", () => {
  it("start without arguments runs a demo, and the printed curl line works", { timeout: 30_000 }, async () => {
    const { child, output, ended } = signalbox("start", "--port", "0", "--admin-port", "0");
    await until(() => output.err.includes("Try it:"));
    assert.match(output.err, /^Signalbox is listening .* demo pool/m);
    const [, url = "", body = ""] = /curl (\S+) -H 'Content-Type: application\/json' -d '(.*)'/.exec(output.err) ?? [];
    const answer = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    assert.equal(answer.status, 200);
    assert.match(((await answer.json()) as { model: string }).model, /^food-review-v[12]$/);
    process.kill(child.pid!, "SIGTERM");
    assert.equal(await ended, 0);
    // A standard output that is no terminal is the access log and nothing else.
    assert.deepEqual(
      output.out
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { model: string }).model),
      ["food-review"],
    );
  });

  const mistyped: readonly (readonly [words: string, meant: string])[] = [
    ["stauts", "status"],
    ["status --admn x", "--admin"],
    ["plugins shwo queue", "show"],
    ["plugins show queu", "queue"],
    ["new scoerr x", "scorer"],
    ["get endpints", "endpoints"],
    ["completion bsh", "bash"],
    ["config pirnt", "print"],
    ["adapters laod x", "load"],
    ["delete rewrit x", "rewrite"],
    ["top --sort infligt", "inflight"],
    ["import --from litelm package.json", "litellm"],
    ["mock --prot 1", "--port"],
    ["mock --fault hnag", "hang"],
    ["config pritn", "print"],
    ["key nwe x", "new"],
    ["explain -f x --pth y", "--path"],
    ["split-test m --requsts 3", "--requests"],
    ["replay x --sped 2", "--speed"],
    ["status --admin htp://127.0.0.1:9191", "http://127.0.0.1:9191"],
    ["replay x --url localhost:8080", "http://localhost:8080"],
  ];
  for (const [words, meant] of mistyped) {
    it(`${words}: says what was meant`, async () => {
      const { code, out, err } = await run(...words.split(" "));
      assert.match(out + err, new RegExp(`Did you mean "${meant}"\\?`));
      assert.ok(code === 1 || code === 2);
    });
  }

  it("check and start name import for a config of another router", { timeout: 30_000 }, async () => {
    const file = join(folder, "litellm.yaml");
    writeFileSync(file, "model_list:\n  - { model_name: a, litellm_params: { model: openai/a, api_base: http://x/v1 } }\n");
    // The command is shown as the program was called.
    const hint = new RegExp(`${file} is LiteLLM's config: "[^"]*signalbox\\S* import ${file}" makes a config of ours of it\\.`);
    const checked = await run("check", file);
    assert.match(checked.out, hint);
    assert.equal(checked.code, 1);
    const started = await runProcess("start", "-f", file);
    assert.match(started.err, hint);
    writeFileSync(file, "apiVersion: signalbox/v1\nkind: Rotuer\nmodel_list: []\n");
    assert.doesNotMatch((await run("check", file)).out, /signalbox import/);
  });

  it("mock runs one replica", { timeout: 30_000 }, async () => {
    const { child, output, ended } = signalbox("mock", "--port", "0", "--model", "m1");
    await until(() => output.out.includes("http://"));
    const [url = ""] = /http:\S+/.exec(output.out) ?? [];
    const list = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] };
    assert.deepEqual(
      list.data.map(({ id }) => id),
      ["m1"],
    );
    process.kill(child.pid!, "SIGTERM");
    assert.equal(await ended, 0);
  });

  it("start and check print names from outside without control characters", { timeout: 60_000 }, async () => {
    const replica = await startScriptedReplica(() => {}, ["m\u001b[2J\r\n\u009bx"]);
    after(() => replica.close());
    const file = join(folder, "nasty.yaml");
    const text = `apiVersion: signalbox/v1\nkind: Router\nspec: { pool: { name: "p\\x9b[2J", endpoints: [ { url: "${replica.url}", labels: { a: "\\e[2J" } } ] } }\n`;
    writeFileSync(file, text);
    const { child, output, ended } = signalbox("start", "-f", file, "--port", "0", "--admin-port", "0");
    await until(() => output.err.includes("models: "));
    process.kill(child.pid!, "SIGTERM");
    assert.equal(await ended, 0);
    assert.match(output.err, /for the pool \\"p\?\[2J\\": 1 of 1 replicas ready, models: m\?\[2J\?\?\?x"/);

    const valid = await run("check", file);
    writeFileSync(file, text.replace("spec: {", 'spec: { "q\\x9b[2J": 1,'));
    const refused = await runProcess("start", "-f", file);
    for (const shown of [output, valid, refused]) {
      const all = shown.out + shown.err;
      assert.ok(all.includes("[2J"));
      assert.equal(printableLines(all), all);
    }
  });

  const bad = join(folder, "bad.yaml");
  writeFileSync(
    bad,
    "apiVersion: signalbox/v1\nkind: Router\nspec:\n  pool: { endpoints: [ { url: nonsense } ] }\n  lisen: {}\n",
  );
  const lone = join(folder, "lone.yaml");
  writeFileSync(
    lone,
    "apiVersion: llm-d.ai/v1\nkind: EndpointPickerConfig\nplugins: [ { type: queue-scorer }, { type: random-picker, name: spare } ]\nschedulingProfiles: [ { name: p, plugins: [ { pluginRef: queue-scorer }, { pluginRef: max-score } ] } ]\n",
  );
  interface Refusal {
    readonly argv: readonly string[];
    readonly code: number;
    readonly says: RegExp;
  }
  const quitting = join(folder, "quitting.yaml");
  writeFileSync(quitting, "apiVersion: signalbox/v1\nkind: Router\nspec: { plugins: [ { from: ./quits.mjs } ] }\n");
  writeFileSync(join(folder, "quits.mjs"), "process.exit(0);\n");
  const quit = /^signalbox: the program ended while it loaded \/.*quits\.mjs;/m;
  /** Of a process: `start` takes over its outputs, and ends it; a plugin's module may end it too. */
  const started: readonly Refusal[] = [
    { argv: ["start", "-f", bad, "--port", "0"], code: 1, says: /bad\.yaml:5:3 .*listen[\s\S]*Nothing was started/ },
    { argv: ["start", "-f", "absent.yaml"], code: 1, says: /no such file/ },
    { argv: ["start", "--port", "many"], code: 2, says: /0 to 65535/ },
    { argv: ["start", "-f", quitting], code: 1, says: quit },
    { argv: ["check", quitting], code: 1, says: quit },
    { argv: ["--version"], code: 0, says: /^signalbox \d+\.\d+\.\d+ on (node|deno|bun) \d/ },
    { argv: [], code: 2, says: /signalbox start/ },
  ];
  const refusals: readonly Refusal[] = [
    { argv: ["check", "-f", bad], code: 1, says: /bad\.yaml:4:/ },
    { argv: ["check", "--json", bad], code: 1, says: /^\{\n {2}"valid": false,/ },
    {
      argv: ["check", "--strict", "http://gpu1:8000", lone],
      code: 1,
      says: /"spare", which the profile does not name[\s\S]*--strict accepts no warnings/,
    },
    { argv: ["check", lone], code: 0, says: /The config is valid[\s\S]*warnings {2}2\n/ },
    { argv: ["check"], code: 2, says: /signalbox check -f/ },
    { argv: ["start", "--prot", "1"], code: 2, says: /--prot.* Did you mean "--port"\?/ },
    { argv: ["strat"], code: 2, says: /no command "strat".*Did you mean "start"/ },
    { argv: ["start", "--help"], code: 0, says: /Usage: signalbox start \[URL\.\.\.\][\s\S]*--admin-port N/ },
    {
      argv: ["simulate", "--help"],
      code: 0,
      says: /TRACE is a file[\s\S]*--replicas N +how many replicas \(default 8, or those that a log names\)[\s\S]*slow:FACTOR/,
    },
    { argv: ["version", "--json"], code: 0, says: /^\{"version":"\d.*"runtime":"(node|deno|bun) / },
    { argv: ["get", "nothing"], code: 2, says: /There is no "nothing" to get/ },
    { argv: ["drain"], code: 2, says: /signalbox drain gpu1-8000/ },
    { argv: ["drain", "e", "--for", "soon"], code: 2, says: /--for wants a time such as 90s/ },
    { argv: ["weights", "food", "v1"], code: 2, says: /TARGET=WEIGHT/ },
    { argv: ["split-test", "m", "--path", "/inference/v1/generate"], code: 2, says: /--path wants one of/ },
    { argv: ["status", "--admin", "http://a:99999"], code: 2, says: /--admin .* The port of a URL is a number from 1 to 65535/ },
    { argv: ["status", "--admin", "http://127.0.0.1:1"], code: 4, says: /Nobody listens at/ },
    { argv: ["reload", "--admin", "http://127.0.0.1:1"], code: 4, says: /Nobody listens at/ },
    { argv: ["apply", "-f", bad], code: 1, says: /Nothing was applied[\s\S]*bad\.yaml:2:7 .*can't be applied/ },
    { argv: ["config", "print", "-f", bad], code: 1, says: /bad\.yaml:4:/ },
  ];
  for (const [runs, rows] of [
    [runProcess, started],
    [run, refusals],
  ] as const) {
    for (const { argv, code, says } of rows) {
      it(`signalbox ${argv.join(" ").replace(folder, "")}: exit code ${code}`, { timeout: 30_000 }, async () => {
        const ended = await runs(...argv);
        assert.equal(ended.code, code);
        assert.match(ended.out + ended.err, says);
        assert.ok(!/\bat .*\.ts:\d+/.test(ended.err), "no stack trace");
      });
    }
  }

  it("start on a port in use: exit code 1 and a message that names the switch", { timeout: 30_000 }, async () => {
    // What is not read is never closed.
    const holder = createServer((socket) => void socket.resume().on("error", () => {}));
    await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
    const { port } = holder.address() as { port: number };
    const { output, ended } = signalbox("start", "http://127.0.0.1:1", "--port", String(port), "--admin-port", "0");
    assert.equal(await ended, 1);
    assert.match(output.err, /in use.*--port: \d+ is free/);
    await new Promise((resolve) => holder.close(resolve));
  });
});
