import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { checkConfig } from "../../config/check.ts";
import { POOL, registry, router } from "./support.ts";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-check-"));
});
after(() => rmSync(folder, { recursive: true }));

function check(text: string) {
  const file = join(folder, "signalbox.yaml");
  writeFileSync(file, text);
  return checkConfig([file], registry);
}

test("checkConfig summarizes a valid config", async () => {
  const { text, isValid } = await check(`${router(`  listen: { host: "::", port: 80 }
  admin: false
  pool: { name: llama, endpoints: [{ url: http://gpu1:8000, labels: { gpu: h100 } }, { url: http://gpu2:8000 }] }
  plugins: [{ type: prefix-cache, name: cache }, { type: random, name: dice }]
  profiles: [{ plugins: [{ pluginRef: cache, weight: 3 }, { pluginRef: queue }] }]
`)}---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food }
spec:
  poolRef: { name: llama }
  rules:
    - matches: [{ model: { value: food } }]
      targets: [{ modelRewrite: v1, weight: 2 }, { modelRewrite: v2, weight: 1 }]
      sticky: { header: X-User }
      onUnavailable: redistribute
    - targets: [{ modelRewrite: base }]
`);
  assert.equal(
    text,
    `The config is valid.
listen    [::]:80, admin off
pool      llama, 2 endpoints
          gpu1-8000  http://gpu1:8000  gpu=h100
          gpu2-8000  http://gpu2:8000
profile   default
          filter  ready
          filter  serves-model
          scorer  cache (prefix-cache)  weight 3
          scorer  queue  weight 1
          picker  max-score
rewrites  2 rules
          food -> v1 66.7%, v2 33.3%, sticky by x-user, redistributed when unavailable  (food/0)
          every model -> base  (food/1)
unused    dice: the profile does not name them`,
  );
  assert.equal(isValid, true);
});

test("checkConfig shortens long lists", async () => {
  const endpoints = Array.from({ length: 20 }, (_, index) => `{ url: "http://gpu${index}:8000" }`).join(", ");
  const { text } = await check(router(`  pool: { endpoints: [${endpoints}] }\n`));
  assert.match(text, /pool {6}default, 20 endpoints\n(.*\n){12} {10}… and 8 more\n/);
});

test("checkConfig lists every problem", async () => {
  const { text, isValid } = await check(router(`${POOL}  lisen: {}\n  limits: { retries: x }\n`));
  const file = join(folder, "signalbox.yaml");
  assert.deepEqual(text.split("\n"), [
    `${file}:5:3  spec.lisen  found the unknown key "lisen"; wanted one of: listen, admin, pool, plugins, profiles, ejection, retries, keepAlive, forwardedFor, limits, responseHeaders. Did you mean "listen"?`,
    `${file}:6:22  spec.limits.retries  found "x"; wanted a whole number from 0 to 100.`,
    "2 problems",
  ]);
  assert.equal(isValid, false);
});
