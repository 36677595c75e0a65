import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ejectionSection } from "../../../plugins/features/ejection/ejection-config.ts";
import { configOf, POOL, problemsOf, router } from "../support.ts";

describe("times and sizes with a unit", () => {
  const limits: readonly (readonly [key: string, written: string, value: number])[] = [
    ["bodyBytes", "32MiB", 33_554_432],
    ["bodyBytes", "1.5 MB", 1_500_000],
    ["bodyBytes", "512B", 512],
    ["bodyBytes", "64kib", 65_536],
    ["memoryBytes", "0.5GiB", 536_870_912],
    ["memoryBytes", "1MiB", 1_048_576],
    ["memoryBytes", "0", 0],
    ["idleTimeoutMs", "75s", 75_000],
    ["idleTimeoutMs", "250ms", 250],
    ["responseTimeoutMs", "10m", 600_000],
    ["responseTimeoutMs", "10min", 600_000],
    ["streamIdleTimeoutMs", "1.1s", 1_100],
    ["drainTimeoutMs", "1h", 3_600_000],
  ];
  for (const [key, written, value] of limits) {
    it(`limits.${key}: ${written}`, async () => {
      const { settings } = await configOf(router(`  limits: { ${key}: ${written} }\n${POOL}`));
      assert.equal((settings.limits as unknown as Record<string, number>)[key], value);
    });
  }

  it("where a key counts seconds", async () => {
    const probes = "probes: { startup: { periodSeconds: 1500ms } }";
    const config = await configOf(
      router(`  ejection: { baseSeconds: 2m }\n${POOL.replace("name: llama", `name: llama, ${probes}`)}`),
    );
    assert.deepEqual([ejectionSection.of(config.features).baseMs, config.pool.probes.startup.periodMs], [120_000, 1_500]);
  });

  const TIME = "wanted a whole number from 1 to 2147483647 or a time such as 75s.";
  const SIZE = "wanted a whole number from 1 to 1073741824 or a size such as 32MiB.";
  const MEMORY = "wanted 0 or at least 1048576 bytes, such as 256MiB.";
  const refusals: readonly (readonly [key: string, written: string, problem: string])[] = [
    ["idleTimeoutMs", "75 seconds", `found "75 seconds"; ${TIME}`],
    ["idleTimeoutMs", "-1s", `found "-1s"; ${TIME}`],
    ["idleTimeoutMs", '"75"', `found "75"; ${TIME} Remove the quotes.`],
    ["idleTimeoutMs", "0.5ms", `found "0.5ms"; ${TIME.replace(" or a time such as 75s", "")}`],
    ["idleTimeoutMs", "99d", `found "99d"; ${TIME.replace(" or a time such as 75s", "")}`],
    ["bodyBytes", "32M", `found "32M"; ${SIZE}`],
    ["memoryBytes", "256", `found 256; ${MEMORY}`],
    ["memoryBytes", "256KiB", `found "256KiB"; ${MEMORY}`],
    ["bodyBytes", "2GiB", `found "2GiB"; ${SIZE.replace(" or a size such as 32MiB", "")}`],
  ];
  for (const [key, written, problem] of refusals) {
    it(`refuses limits.${key}: ${written}`, async () => {
      const [first = ""] = await problemsOf(router(`  limits: { ${key}: ${written} }\n${POOL}`));
      assert.equal(first.slice(first.indexOf("found")), problem);
    });
  }
});
