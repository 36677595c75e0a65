import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MissedPaths } from "../../../../plugins/features/ejection/missed-paths.ts";

type Step = readonly [endpoint: string, happens: "served" | "missed", model?: string];

/** Whether the last of these speaks against its endpoint. */
function lastIsBlamed(steps: readonly Step[]): boolean | undefined {
  const paths = new MissedPaths();
  let blamed: boolean | undefined;
  for (const [endpoint, happens, model = "m"] of steps) {
    if (happens === "served") paths.served(model, "/v1/embeddings");
    else blamed = paths.missed(model, "/v1/embeddings", endpoint);
  }
  return blamed;
}

describe("404 of an endpoint for a model that it lists", () => {
  const rows: readonly (readonly [name: string, steps: readonly Step[], isBlamed: boolean])[] = [
    ["the first one", [["a", "missed"]], true],
    [
      "the same again",
      [
        ["a", "missed"],
        ["a", "missed"],
      ],
      true,
    ],
    [
      "a second endpoint says it too",
      [
        ["a", "missed"],
        ["b", "missed"],
      ],
      false,
    ],
    [
      "the first one once more, after a second one",
      [
        ["a", "missed"],
        ["b", "missed"],
        ["a", "missed"],
      ],
      false,
    ],
    [
      "another one serves it",
      [
        ["b", "served"],
        ["a", "missed"],
      ],
      true,
    ],
    [
      "two lost it, and a third one serves it",
      [
        ["a", "missed"],
        ["b", "missed"],
        ["c", "served"],
        ["a", "missed"],
      ],
      true,
    ],
    [
      "another one serves another model there",
      [
        ["a", "missed"],
        ["b", "served", "n"],
        ["c", "missed"],
      ],
      false,
    ],
  ];
  for (const [name, steps, isBlamed] of rows) it(name, () => assert.equal(lastIsBlamed(steps), isBlamed));

  it("of so many models that not all are kept", () => {
    const paths = new MissedPaths();
    for (let model = 0; model < 30_000; model += 1) paths.served(`m${model}`, "/v1/completions");
    assert.equal(paths.missed("m29999", "/v1/completions", "a"), true);
  });
});
