import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { seededRandom } from "../../../core/contract/test-kit.ts";
import { withImages } from "../../../core/simulate/images.ts";
import { makeTrace, makeTraced } from "./traces.ts";

const TRACE = makeTrace(Array.from({ length: 400 }, (_, index) => makeTraced(index, [1, 2, 3 + (index % 5)], 1, 250)));
const images = (share: number, areRecognised = true) => withImages(TRACE, { share, areRecognised }, seededRandom(7));

describe("a trace with images", () => {
  test("is the trace itself without any", () => assert.equal(images(0), TRACE));

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
