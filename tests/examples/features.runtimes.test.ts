import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { chatBody, event, OK, STREAM, setUp } from "../support/scripted-pool.ts";
import { chunkOf, jsonAnswer, LAST_CHUNK, type Script, STREAM_HEAD } from "../support/scripted-replica.ts";
import { ROOT } from "../support/suite/runtimes.ts";
import { examplePath } from "./example-files.ts";

// The features that stand outside of the tree: each is loaded from its folder, and as a package of JavaScript. The router over real
// sockets knows nothing of them.
const EXAMPLES = ["feature-response-cache", "feature-hourly-budget", "feature-note"] as const;
const FOLDERS = mkdtempSync(join(tmpdir(), "signalbox-features-"));
after(() => rmSync(FOLDERS, { recursive: true }));

/** What `npm run build` of such a folder makes, installed beside a config. */
function install(example: string): void {
  const folder = join(FOLDERS, "node_modules", example);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: example, type: "module", exports: "./plugin.js" }));
  const compiler = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const source = examplePath(`plugins/${example}`);
  const files = readdirSync(source).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  // Without resolving imports: nothing but these files is written.
  const flags = "--ignoreConfig --noResolve --noCheck --rewriteRelativeImportExtensions --target es2022 --module nodenext".split(
    " ",
  );
  const args = [compiler, ...flags, "--rootDir", source, "--outDir", folder, ...files.map((name) => join(source, name))];
  execFileSync("node", args, { cwd: ROOT, stdio: "pipe" });
}
for (const example of EXAMPLES) install(example);

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const KEYS = `  auth: { keys: [ { name: search, sha256: ${sha256("sk-search")} }, { name: sales, sha256: ${sha256("sk-sales")} } ] }
  plugins:`;
/** A whole stream in the framing of HTTP, or the beginning of one. */
const streamOf = (events: string, isWhole = true) => `${STREAM_HEAD}${chunkOf(events)}${isWhole ? LAST_CHUNK : ""}`;

for (const way of ["folder", "package"] as const) {
  const fromOf = (example: string) => (way === "folder" ? examplePath(`plugins/${example}/plugin.ts`) : example);
  const start = async (example: string, parameters: string, scripts: readonly Script[], more = "  plugins:") => {
    const spec = `${more}\n    - { from: "${fromOf(example)}", parameters: ${parameters} }\n`;
    const { router, replica } = await setUp(scripts, { file: join(FOLDERS, "test.yaml"), spec });
    const ask = async (body: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${router.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body,
      });
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    };
    const status = () => (router.router.features.status() as { features: Record<string, object> }).features;
    return { router, replica, ask, status };
  };

  describe(`from a ${way}, the response cache`, () => {
    it("answers an exact repetition that asks for it, stream or not, and passes on all else", async () => {
      const events = `${event(1)}data: [DONE]\n\n`;
      const { replica, ask, status } = await start("feature-response-cache", "{}", [
        ({ body }, socket) => void socket.write(body.includes('"stream":true') ? streamOf(events) : OK),
      ]);
      const on = { "x-cache": "on" };
      for (const extra of ["", STREAM]) {
        const before = replica.requests.length;
        const first = await ask(chatBody(extra), on);
        const again = await ask(chatBody(extra), on);
        assert.equal(again.text, first.text);
        assert.equal(again.headers.get("content-type"), first.headers.get("content-type"));
        assert.deepEqual([first.headers.get("x-cache"), again.headers.get("x-cache")], [null, "hit"]);
        assert.equal(replica.requests.length, before + 1);
        await ask(chatBody(extra));
        await ask(`${chatBody(extra)} `, on);
        assert.equal(replica.requests.length, before + 3);
      }
      assert.deepEqual((status()["response-cache"] as { hits: number }).hits, 2);
    });

    it("keeps nothing that broke off, lacks its end, or failed", async () => {
      const cut: Script = ({ index }, socket) => {
        if (index === 0) return void socket.end(streamOf(event(1), false));
        if (index === 1) return void socket.write(jsonAnswer("{}", "400 Bad Request"));
        return void socket.write(streamOf(`${event(2)}data: [DONE]\n\n`));
      };
      const { replica, ask } = await start("feature-response-cache", "{}", [cut]);
      for (let i = 0; i < 4; i++) await ask(chatBody(STREAM), { "x-cache": "on" }).catch(() => {});
      assert.equal(replica.requests.length, 3);
    });

    it("keeps one client's responses from another", async () => {
      const { replica, ask } = await start("feature-response-cache", "{}", [(_request, socket) => void socket.write(OK)], KEYS);
      for (const key of ["sk-search", "sk-sales", "sk-search"])
        assert.equal((await ask(chatBody(), { "x-cache": "on", authorization: `Bearer ${key}` })).status, 200);
      assert.equal(replica.requests.length, 2);
    });
  });

  describe(`from a ${way}, the hourly budget`, () => {
    it("refuses a client that has used it, before a replica is asked", async () => {
      const usage = '"usage":{"prompt_tokens":60,"completion_tokens":20,"total_tokens":80}';
      const body = `{"object":"chat.completion","choices":[{"message":{"role":"assistant","content":"Hi"}}],${usage}}`;
      const { replica, ask } = await start("feature-hourly-budget", "{ tokensPerHour: 100 }", [
        (_request, socket) => void socket.write(jsonAnswer(body)),
      ]);
      const all = [await ask(chatBody()), await ask(chatBody()), await ask(chatBody())];
      assert.deepEqual(
        all.map(({ status }) => status),
        [200, 200, 429],
      );
      assert.match(all[2]!.text, /rate_limit_exceeded.*|has used the 100 tokens/);
      assert.ok(Number(all[2]!.headers.get("retry-after")) > 0);
      assert.equal(replica.requests.length, 2);
    });
  });

  describe(`from a ${way}, the note`, () => {
    it("stands in the explanation of a request that has ended, and of no other", async () => {
      const { router, ask } = await start("feature-note", "{}", [(_request, socket) => void socket.write(OK)]);
      const ids: string[] = [];
      for (const headers of [{ "x-experiment": "B" }, {}] as Record<string, string>[])
        ids.push((await ask(chatBody(), headers)).headers.get("x-request-id")!);
      const page = router.router.config.observers
        .flatMap(({ plugin }) => plugin.pages ?? [])
        .find(({ path }) => path === "/decisions")!;
      const notes = ids.map((id) => JSON.parse(page.render({} as never, new URLSearchParams({ id }))).decisions[0].notes);
      assert.deepEqual(notes, [["It belongs to the experiment B."], []]);
    });
  });
}
