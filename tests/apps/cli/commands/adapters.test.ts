import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { adapters, adaptersText, changesText } from "../../../../apps/cli/commands/adapters.ts";
import { readInput } from "../../../../apps/cli/frame/command.ts";
import { type Input, UsageError } from "../../../../config/command.ts";

describe("signalbox adapters", () => {
  it("shows who has which adapters", () => {
    const text = adaptersText([
      { name: "food-review-v1", isTarget: true, loaded: ["gpu-1", "gpu-2"], loading: [], refused: [] },
      { name: "v2", isTarget: false, loaded: [], loading: ["gpu-1"], refused: [{ endpoint: "gpu-2", retryInS: 8 }] },
    ]);
    assert.deepEqual(text.split("\n"), [
      "ADAPTER         LOADED        LOADING  REFUSED",
      "food-review-v1  gpu-1, gpu-2  -        -",
      "v2              -             gpu-1    gpu-2 (for 8 s)",
    ]);
  });

  it("says so when there is none", () => assert.match(adaptersText([]), /^No replica has an adapter/));

  it("shows what each replica said", () => {
    const text = changesText([
      { endpoint: "gpu-1", isDone: true, status: 200, message: "Success" },
      { endpoint: "gpu-22", isDone: false, status: 404, message: "No." },
    ]);
    assert.deepEqual(text.split("\n"), ["gpu-1   done    Success", "gpu-22  failed  No."]);
  });

  const wrong: readonly (readonly [line: string, message: RegExp])[] = [
    ["remove v1", /load and unload/],
    ["load", /Name one adapter/],
    ["load v1 v2", /Name one adapter/],
    ["unload v1 --path /x", /--path is for load/],
    ["--endpoint gpu-1", /--endpoint is for/],
  ];
  for (const [line, message] of wrong) {
    it(`"${line}" is wrong usage`, async () => {
      await assert.rejects(
        async () => adapters(inputOf(line)),
        (thrown) => thrown instanceof UsageError && message.test(thrown.message),
      );
    });
  }
});

function inputOf(line: string): Input {
  const switches = ["path", "endpoint"].map((name) => ({ name, value: "X", meaning: "" }));
  return readInput(line.split(" "), { name: "adapters", switches });
}
