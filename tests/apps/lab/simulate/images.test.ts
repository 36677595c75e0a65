import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ENGINE_TIMES } from "../../../../apps/lab/engine/engine-times.ts";
import { withImages } from "../../../../apps/lab/simulate/images.ts";
import { Simulation } from "../../../../apps/lab/simulate/simulation.ts";
import { loadTexts } from "../../../../config/load.ts";
import { seededRandom } from "../../../../core/contract/test-kit.ts";
import { builtIns } from "../../../../plugins/registry.ts";
import { makeTrace, makeTraced } from "./traces.ts";

const TRACE = makeTrace(Array.from({ length: 400 }, (_, index) => makeTraced(index, [1, 2, 3 + (index % 5)], 1, 250)));
const images = (share: number, areRecognised = true) => withImages(TRACE, { share, areRecognised }, seededRandom(7));

describe("a trace with images", () => {
  test("is the trace itself without any", () => assert.equal(images(0), TRACE));

  test("says so in its name", () => {
    assert.equal(images(0.3).name, "made with an image in 30 % of its prompts");
    assert.equal(images(1, false).name, "made with an image in 100 % of its prompts, taken for text");
  });

  test("has them in the share of prompts asked for, as engines count them", () => {
    const { requests } = images(0.3);
    const withOne = requests.filter(({ image }) => image !== undefined);
    assert.ok(Math.abs(withOne.length - 120) < 30, `${withOne.length}`);
    for (const { prompt, image } of withOne) {
      assert.deepEqual(
        [0, 1, 2].map((block) => prompt.tokensIn(block)),
        [100, 100, 50],
      );
      const tokens = prompt.tokensIn(3);
      assert.equal(prompt.tokens, 250 + tokens);
      assert.ok(tokens >= 459 && tokens <= 4_133, `${tokens} tokens`);
      assert.ok(image!.bytes > 90_000 && image!.bytes < 4_400_000 && image!.bytes % 4 === 0, `${image!.bytes} bytes`);
    }
    const ids = withOne.map(({ prompt }) => prompt.blocks.at(-1)!);
    assert.equal(new Set(ids).size, ids.length);
    assert.ok(ids.every((id) => id > 7));
  });

  test("is the same but for what the router knows", () => {
    const strip = (areRecognised: boolean) =>
      images(0.5, areRecognised).requests.map(({ prompt, image }) => [prompt.tokens, image?.bytes]);
    assert.deepEqual(strip(true), strip(false));
    assert.ok(images(1, false).requests.every(({ image }) => image?.isRecognised === false));
  });
});

test("the default policy answers sooner where it knows images", async () => {
  const loaded = await loadTexts([], builtIns, ["http://127.0.0.1:8000"]);
  if (loaded.problems !== undefined) throw new Error(JSON.stringify(loaded.problems));
  const blocks = (talk: number, turns: number) => Array.from({ length: 20 + turns }, (_, block) => 1 + 1_000 * talk + block);
  const talks = makeTrace(Array.from({ length: 300 }, (_, turn) => makeTraced(turn * 150, blocks(turn % 20, turn / 20), 100)));
  const meanOf = (areRecognised: boolean) => {
    const trace = withImages(talks, { share: 0.3, areRecognised }, seededRandom(7));
    const settings = { replicas: 4, model: ENGINE_TIMES, speeds: [], timeScale: 1, seed: 1, tokenError: 0, faults: [] };
    return new Simulation(trace, loaded, settings).run().ttftSeconds.mean;
  };
  const [known, taken] = [meanOf(true), meanOf(false)];
  assert.ok(known < 0.8 * taken, `${known} s with images known, ${taken} s without`);
});
