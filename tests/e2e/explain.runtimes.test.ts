import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { AdminServer } from "../../apps/admin/server.ts";
import type { DecisionReport, DryRunReport } from "../../core/report/report-schema.ts";
import { startTestAdmin } from "../support/admin.ts";
import { killAll, run } from "../support/cli.ts";
import { programOnThisRuntime } from "../support/own-runtime.ts";
import { exchange, postBytes } from "../support/raw-client.ts";
import { startTestRouter, type TestRouter } from "../support/router.ts";
import { sampled } from "../support/sample.ts";
import { jsonAnswer, type ScriptedReplica, startScriptedReplica } from "../support/scripted-replica.ts";

const SECRET = "nobody-may-keep-this";
const chat = (text: string) => `{"model":"food","messages":[{"role":"user","content":"${`${text} ${SECRET} `.repeat(60)}"}]}`;
const REWRITE = `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { group: inference.networking.k8s.io, name: default }
  rules:
    - matches: [ { model: { type: Exact, value: food } } ]
      targets: [ { modelRewrite: v1, weight: 70 }, { modelRewrite: v2, weight: 30 } ]
`;
const TURNS = "  profiles: [ { name: p, plugins: [ { pluginRef: queue }, { pluginRef: round-robin } ] } ]\n";

let folder: string;
let replicas: readonly ScriptedReplica[];
let router: TestRouter;
let admin: AdminServer;
let turns: TestRouter;
let turnsAdmin: AdminServer;
let bodyFile: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "explain-"));
  bodyFile = join(folder, "body.json");
  writeFileSync(bodyFile, chat("first"));
  const script = (_request: unknown, socket: { write(text: string): unknown }) =>
    void socket.write(jsonAnswer('{"choices":[{"index":0}],"ok":true}'));
  replicas = await Promise.all([1, 2, 3].map(() => startScriptedReplica(script, ["v1", "v2"])));
  const urls = replicas.map(({ url }) => url);
  router = await startTestRouter(urls, { documents: REWRITE });
  admin = await startTestAdmin(router.router);
  turns = await startTestRouter(urls, { documents: REWRITE, spec: TURNS });
  turnsAdmin = await startTestAdmin(turns.router);
});
after(async () => {
  killAll();
  await Promise.all([admin.close(), turnsAdmin.close()]);
  await Promise.all([router.close(), turns.close()]);
  await Promise.all(replicas.map((replica) => replica.close()));
  rmSync(folder, { recursive: true });
});

const at = (server: AdminServer) => ["--admin", `http://127.0.0.1:${server.port}`];
const send = (to: TestRouter, body: string, lines = "") => exchange(to.port, postBytes("/v1/chat/completions", body, lines));

/** Runs `explain -f -` with this body on its standard input. */
async function explainInput(body: string): Promise<string> {
  const { command, args } = programOnThisRuntime();
  const child = spawn(command, [...args, "explain", "-f", "-", "--json", ...at(admin)], { stdio: ["pipe", "pipe", "inherit"] });
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stdin.end(body);
  await new Promise((resolve) => child.on("close", resolve));
  return out;
}

describe("signalbox explain", () => {
  it("of a request that has ended", async () => {
    await send(router, chat("ended"), "x-request-id: ended-1\r\n");
    const { code, out } = await run("explain", "ended-1", ...at(admin));
    assert.equal(code, 0);
    assert.match(
      out,
      /^127\.0\.0\.1-\d+ was drawn at random from 3 with the same best score .*prompt tokens is cached there.*\n\nrequest {2}ended-1/,
    );
    assert.match(out, /^model {4}food -> v\d, by the rule food\/0: drawn by the weights \(v1 70, v2 30\)$/m);
    assert.match(out, /^replica +cached +not cached +waiting +first token +outstanding-work x 1 +total$/m);
    const { out: json } = await run("explain", "ended-1", "--json", ...at(admin));
    const [report] = JSON.parse(json) as DecisionReport[];
    assert.equal(report?.candidates[0]?.cachedTokens, 0);
    assert.ok(report?.candidates[0]?.uncachedTokens);
  });

  it("of a body in a file: it is not sent", async () => {
    const lines = router.log.length;
    const { code, out } = await run("explain", "-f", bodyFile, "--header", "x-user: ada", ...at(admin));
    assert.equal(code, 0);
    assert.match(out, /^dry run {2}POST \/v1\/chat\/completions, chat-completions, as of .*; nothing was sent$/m);
    assert.doesNotMatch(out, new RegExp(SECRET));
    assert.equal(router.log.length, lines);
  });

  it("of a body on the standard input, whose bytes count", async () => {
    const body = chat("caf\u00e9").replace("{", "{ ");
    await send(router, body);
    const { requestBytes } = JSON.parse(await explainInput(body)) as DryRunReport;
    assert.equal(requestBytes, Buffer.byteLength(body));
  });

  const failures: readonly (readonly [name: string, argv: () => readonly string[], code: number, message: RegExp])[] = [
    ["no router there", () => ["x", "--admin", "http://127.0.0.1:9"], 4, /Nobody listens at http:\/\/127\.0\.0\.1:9/],
    ["an id that it does not know", () => ["never-seen", ...at(admin)], 2, /it keeps the last 100 that have ended/],
    ["nothing named", () => at(admin), 2, /Name one request .*signalbox explain .*-f body\.json/],
    ["both", () => ["id", "-f", bodyFile, ...at(admin)], 2, /a request or a body, not both/],
    ["a switch for bodies", () => ["id", "--path", "/v1/completions", ...at(admin)], 2, /--path is for a body/],
    ["no such file", () => ["-f", join(folder, "none"), ...at(admin)], 2, /-f names a file that can't be read/],
    ["no JSON", () => ["-f", join(folder, "text"), ...at(admin)], 2, /JSON/],
    [
      "a path that is not served",
      () => ["-f", bodyFile, "--path", "/v1/chat", ...at(admin)],
      2,
      /it serves POST \/v1\/completions, /,
    ],
    ["a path that is none", () => ["-f", bodyFile, "--path", "chat", ...at(admin)], 2, /--path wants a path/],
    ["a header that is none", () => ["-f", bodyFile, "--header", "x-user", ...at(admin)], 2, /--header wants a name and a value/],
    [
      "a config for a live router",
      () => ["-f", bodyFile, "--config", "a.yaml", ...at(admin)],
      2,
      /--config goes with --snapshot/,
    ],
    ["no snapshot", () => ["-f", bodyFile, "--snapshot", join(folder, "none")], 2, /--snapshot names a file that can't be read/],
    ["a snapshot that is no JSON", () => ["-f", bodyFile, "--snapshot", join(folder, "text")], 2, /is no JSON document/],
    [
      "a snapshot of another version",
      () => ["-f", bodyFile, "--snapshot", join(folder, "old.json")],
      1,
      /has version 2, and this program reads/,
    ],
    ["a body as a snapshot", () => ["-f", bodyFile, "--snapshot", bodyFile], 1, /no snapshot of facts/],
  ];
  for (const [name, argv, code, message] of sampled(failures)) {
    it(`says what to do: ${name}`, async () => {
      writeFileSync(join(folder, "text"), "hello");
      writeFileSync(join(folder, "old.json"), '{"version":2,"endpoints":[]}');
      const result = await run("explain", ...argv());
      assert.deepEqual([result.code, result.out], [code, ""]);
      assert.match(result.err, message);
      assert.equal(result.err.trim().includes("    at "), false);
    });
  }
});

describe("signalbox facts", () => {
  it("let a decision be repeated without the router: same target, same order, same numbers", async () => {
    const config = join(folder, "turns.yaml");
    writeFileSync(
      config,
      `apiVersion: signalbox/v1\nkind: Router\nspec:\n  pool: { endpoints: [ { url: http://127.0.0.1:9 } ] }\n${TURNS}${REWRITE}`,
    );
    const saved = join(folder, "facts.json");
    for (let round = 0; round < 2; round++) {
      await send(turns, chat(`round ${round}`), "Authorization: Bearer sk-secret-header\r\n");
      const { code, out } = await run("facts", ...at(turnsAdmin));
      assert.equal(code, 0);
      assert.doesNotMatch(out, new RegExp(`${SECRET}|sk-secret-header`));
      writeFileSync(saved, out);
      const live = JSON.parse((await run("explain", "-f", bodyFile, "--json", ...at(turnsAdmin))).out) as DryRunReport;
      const offline = await run("explain", "-f", bodyFile, "--json", "--snapshot", saved, "--config", config);
      assert.equal(offline.err, "");
      const report = JSON.parse(offline.out) as DryRunReport;
      assert.deepEqual({ ...report, time: "", notes: [] }, { ...live, time: "", notes: [] });
      assert.match(report.notes.join(" "), /nothing is known of what is cached/);
      await send(turns, readFileSync(bodyFile, "utf8"));
    }
  });

  it("are for people too", async () => {
    const saved = join(folder, "facts.json");
    writeFileSync(saved, (await run("facts", ...at(admin))).out);
    const { code, out } = await run("explain", "-f", bodyFile, "--snapshot", saved, "--config", join(folder, "turns.yaml"));
    assert.equal(code, 0);
    assert.match(out, /^note {5}A snapshot has no prompts/m);
  });
});
