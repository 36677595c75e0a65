import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadTestConfig } from "../../../support/router.ts";

const URLS = ["http://127.0.0.1:1"];
const load = async (written: string) => {
  const { config } = await loadTestConfig(URLS, { spec: `  websockets: ${written}` });
  return config.features.get("websockets");
};

describe("spec.websockets", () => {
  it("is off by default, and carries /v1/realtime where it says nothing else", async () => {
    assert.equal((await loadTestConfig(URLS)).config.features.get("websockets"), undefined);
    assert.deepEqual(await load("{}"), { paths: ["/v1/realtime"], firstMessageMs: 10_000, idleMs: 300_000, max: 1024 });
    assert.deepEqual(await load("{ paths: [/v1/responses], firstMessageSeconds: 2s, idleSeconds: 1h, max: 2 }"), {
      paths: ["/v1/responses"],
      firstMessageMs: 2_000,
      idleMs: 3_600_000,
      max: 2,
    });
  });

  const wrong: readonly (readonly [written: string, found: RegExp])[] = [
    ["{ paths: [] }", /at least one path/],
    ["{ paths: [v1/realtime] }", /starts with/],
    ["{ paths: [/health] }", /answers itself/],
    ["{ paths: ['/v1/realtime?model=m'] }", /without \?/],
    ["{ paths: [/v1/realtime, /v1/realtime] }", /a second time/],
    ["{ idleSeconds: 0 }", /idleSeconds/],
    ["{ maxx: 1 }", /unknown key/],
  ];
  for (const [written, found] of wrong) it(`refuses ${written}`, () => assert.rejects(load(written), found));
});
