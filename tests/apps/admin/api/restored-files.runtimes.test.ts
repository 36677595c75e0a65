import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createRouter } from "../../../../apps/fetch.ts";

process.env["SIGNALBOX_ROLLBACK_TOKEN"] = "open-sesame";
const textWith = (retries: number, comment = "") => `apiVersion: signalbox/v1
kind: Router
spec:
  admin: { token: "env:SIGNALBOX_ROLLBACK_TOKEN" }
  limits: { retries: ${retries} } # ${comment}
  pool: { name: llama, endpoints: [{ url: "http://127.0.0.1:9" }] }
`;
const rewrite = (name: string) => `apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: ${name} }
spec:
  poolRef: { name: llama }
  rules: [{ matches: [{ model: { value: ${name} } }], targets: [{ modelRewrite: v1, weight: 90 }] }]
`;

/** A router over a folder of files, one of which had `retries: 1`, then 2, then 3: generations 1 to 3. */
async function setUp(name = "router.yaml") {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-rollback-"));
  const at = (file: string) => join(folder, file);
  const write = (file: string, text: string) => writeFileSync(at(file), text);
  write(name, textWith(1, "first"));
  write("food.yaml", rewrite("food"));
  const router = await createRouter({ files: [folder] });
  after(() => {
    router.close();
    rmSync(folder, { recursive: true });
  });
  const ask = async (method: string, path: string, body?: unknown) => {
    const headers = { "content-type": "application/json", authorization: "Bearer open-sesame" };
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
    const response = await router.admin(new Request(`http://localhost/api/v1${path}`, init));
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  const reload = async () => (await ask("POST", "/config/reload", {})).status;
  for (const retries of [2, 3]) {
    write(name, textWith(retries));
    assert.equal(await reload(), 200);
  }
  const rollBack = (generation: number, isWritten = false) =>
    ask("POST", "/config/rollback", { generation, ...(isWritten && { write: true }) });
  const retries = async () => {
    const { json } = await ask("GET", "/config");
    return (json["router"] as { spec: { limits: { retries: number } } }).spec.limits.retries;
  };
  const restored = async () => (await ask("GET", "/config/history")).json["restored"];
  return { at, write, ask, reload, rollBack, retries, restored, file: () => readFileSync(at(name), "utf8") };
}

describe("a rollback that is written", () => {
  it("gives the files the texts of then, comments too", async () => {
    const { rollBack, file, retries, restored, reload, at } = await setUp();
    const { status, json } = await rollBack(1, true);
    assert.deepEqual([status, json["written"]], [200, [at("router.yaml")]]);
    assert.deepEqual([file(), await retries(), await restored()], [textWith(1, "first"), 1, null]);
    assert.equal(await reload(), 200);
    assert.equal(await retries(), 1);
  });

  it("leaves a file that was edited meanwhile; the rollback runs", async () => {
    const { rollBack, write, file, retries, restored } = await setUp();
    write("router.yaml", "spec: [");
    const { status, json } = await rollBack(1, true);
    assert.deepEqual([status, json["code"]], [409, "not_written"]);
    assert.match(String(json["detail"]), /The earlier config runs, but was not written\. .*was edited since it was read/);
    assert.deepEqual([file(), await retries(), await restored()], ["spec: [", 1, 1]);
  });

  it("is refused where files came or went since then, before anything changes", async () => {
    const { rollBack, write, reload, at, retries } = await setUp();
    write("more.yaml", rewrite("drinks"));
    assert.equal(await reload(), 200);
    const added = await rollBack(3, true);
    assert.deepEqual([added.status, added.json["code"]], [409, "other_files"]);
    assert.match(String(added.json["detail"]), /more\.yaml came since then/);
    rmSync(at("more.yaml"));
    assert.equal(await reload(), 200);
    assert.match(String((await rollBack(4, true)).json["detail"]), /more\.yaml is gone since then/);
    assert.equal(await retries(), 3);
  });

  it("is written where it runs already, and where the file is JSON", async () => {
    const { rollBack, write, reload, at, restored } = await setUp();
    const json = (value: string) => JSON.stringify({ ...JSON.parse(JSON_REWRITE), metadata: { name: value } });
    for (const name of ["tea", "milk"]) {
      write("z.json", json(name));
      assert.equal(await reload(), 200);
    }
    assert.equal((await rollBack(4)).status, 200);
    assert.equal(await restored(), 4);
    assert.equal((await rollBack(6, true)).status, 200);
    assert.deepEqual([readFileSync(at("z.json"), "utf8"), await restored()], [json("tea"), null]);
  });

  it("runs where the folder can't be written, and that is said", { skip: process.getuid?.() === 0 }, async () => {
    const { rollBack, at, retries } = await setUp();
    chmodSync(at("."), 0o555);
    const { json } = await rollBack(1, true);
    chmodSync(at("."), 0o755);
    assert.match(String(json["detail"]), /The earlier config runs, but was not written/);
    assert.equal(await retries(), 1);
  });
});

const JSON_REWRITE = `{"apiVersion":"llm-d.ai/v1alpha2","kind":"InferenceModelRewrite","metadata":{"name":"tea"},
  "spec":{"poolRef":{"name":"llama"},"rules":[{"matches":[{"model":{"value":"t"}}],"targets":[{"modelRewrite":"v1"}]}]}}`;

describe("a rollback beside the files", () => {
  it("ends when they are read, but not while they are broken", async () => {
    const { rollBack, write, reload, retries, restored } = await setUp();
    write("router.yaml", "spec: [");
    const [back, read] = await Promise.all([rollBack(2), reload()]);
    assert.deepEqual([back.status, read, await retries(), await restored()], [200, 422, 2, 2]);
    write("router.yaml", textWith(9));
    assert.deepEqual([await reload(), await retries(), await restored()], [200, 9, null]);
  });

  it("is kept by a change beside it; a change that is to be written must wait for it", async () => {
    const { rollBack, ask, retries, restored } = await setUp();
    await rollBack(1);
    const body = { targets: [{ modelRewrite: "v1", weight: 50 }] };
    const refused = await ask("PATCH", "/rewrites/food?write=true", body);
    assert.deepEqual([refused.status, refused.json["code"]], [409, "rolled_back"]);
    assert.match(String(refused.json["detail"]), /config rollback 4 --write/);
    assert.equal((await ask("PATCH", "/rewrites/food", body)).status, 200);
    assert.deepEqual([await retries(), await restored()], [1, 1]);
    assert.equal((await rollBack(5, true)).status, 200);
    assert.equal((await ask("PATCH", "/rewrites/food?write=true", body)).status, 200);
    assert.equal(await retries(), 1);
  });

  it("to what the files say is none: nothing is left to write", async () => {
    const { rollBack, restored } = await setUp();
    await rollBack(1);
    await rollBack(3);
    assert.equal(await restored(), null);
  });
});
