import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { run } from "../../../support/cli.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-advise-"));
after(() => rmSync(folder, { recursive: true }));

/** A log of so many requests a second on two replicas, for two hours: the first one is idle. */
function log(perS: number): string {
  const file = join(folder, `${perS}.log`);
  const beganMs = Date.parse("2030-01-01T00:00:00.000Z");
  const lines = Array.from({ length: 20 + perS * 600 }, (_, index) => {
    const atMs = beganMs + (index < 20 ? index * 100_000 : 7_200_000 - 600_000 + ((index - 20) * 1_000) / perS);
    return JSON.stringify({
      ...{
        time: new Date(atMs).toISOString(),
        method: "POST",
        path: "/v1/completions",
        status: 200,
        model: "m",
        durationMs: 100,
      },
      ...{ promptTokens: 4_000, outputTokens: 20, stream: true, endpoint: `replica-${index % 2}`, firstByteMs: 50 },
      ...{ prefixHashes: index.toString(16).padStart(8, "0"), prefixBlockTokens: 512 },
    });
  });
  writeFileSync(file, lines.join("\n"));
  return file;
}

interface Result {
  readonly replicas: number;
  readonly requests: number;
  readonly outlooks: readonly { readonly replicas: number; readonly ttftMeanS: number; readonly ttftP99S: number }[];
}

describe("signalbox advise", () => {
  it("says what one more replica saves, and what one fewer costs", async () => {
    const file = log(2);
    const speed = ["--prefill-tps", "5000", "--seeds", "1", "--hours", "0.2"];
    const { out, code, err } = await run("advise", file, ...speed);
    assert.equal(code, 0, err);
    assert.match(
      out,
      /One more replica saves [\d.]+ s of p99 and [\d.]+ s of the mean; one fewer costs [\d.]+ s of p99 and [\d.]+ s of the mean\./,
    );
    const result = JSON.parse((await run("advise", file, ...speed, "--json")).out) as Result;
    assert.deepEqual([result.replicas, result.requests], [2, 1_200]);
    const [one, two, three] = result.outlooks;
    assert.deepEqual([one!.replicas, two!.replicas, three!.replicas], [1, 2, 3]);
    assert.ok(one!.ttftP99S > 10 * two!.ttftP99S && two!.ttftP99S >= three!.ttftP99S, JSON.stringify(result.outlooks));
  });

  it("says what is missing", async () => {
    const bare = join(folder, "bare.jsonl");
    writeFileSync(bare, '{"timestamp":0,"input_length":10,"output_length":1,"hash_ids":[1]}\n');
    assert.match((await run("advise", bare)).err, /does not say how many replicas there were; add --replicas 4/);
    const alone = await run("advise", bare, "--replicas", "1", "--seeds", "1");
    assert.match(alone.out, /it is the only one\./);
    assert.match((await run("advise")).err, /Name one access log/);
    assert.match((await run("advise", bare, "--replicas", "none")).err, /--replicas wants a whole number/);
    assert.equal((await run("advise", join(folder, "none.log"))).code, 1);
  });
});
