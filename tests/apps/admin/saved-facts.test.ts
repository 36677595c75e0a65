import assert from "node:assert/strict";
import { test } from "node:test";
import { savedFacts } from "../../../apps/admin/saved-facts.ts";
import { KeptState } from "../../../core/control/kept-state.ts";
import { TokenScale } from "../../../core/state/token-scale.ts";
import roundRobin from "../../../plugins/pickers/round-robin.ts";
import loraAffinity from "../../../plugins/scorers/lora-affinity.ts";
import { makeRequest } from "../../support/endpoints.ts";
import { createPlugin } from "../../support/plugins.ts";
import { makeShownRouter } from "../../support/view.ts";

test("only what built-in plugins keep of rules and endpoints is saved; what others keep is named", () => {
  const kept = new KeptState();
  const scorer = (type: string, file = "") => ({ name: type, type, file, weight: 1, plugin: createPlugin(loraAffinity) });
  const { config } = makeShownRouter([]);
  const picker = { name: "turns", type: "round-robin", plugin: createPlugin(roundRobin) };
  const scorers = [
    scorer("lora-affinity"),
    scorer("mine", "/a/mine.ts"),
    scorer("stateless", "/a/stateless.ts"),
    scorer("no-hit-lru", "/a/own.ts"),
  ];
  kept.get("round-robin", "turns", 1, () => ({ last: 1, bySlot: [] }));
  for (const name of ["lora-affinity", "mine", "no-hit-lru"]) kept.get(name, name, 1, () => new Set(["PRIVATE"]));
  const tokenScale = new TokenScale();
  tokenScale.learn("messages", 1_000, 2_000);
  const promptParts = tokenScale.parts.counted("m", [{ kind: "image", span: [0, 100], isInline: true }]);
  const request = makeRequest({ api: "messages", target: "m", parsedTokens: 10, promptParts });
  tokenScale.reported(request, { promptTokens: 600, outputTokens: 0 });
  const profile = { ...config.profile, scorers, picker };
  const document = savedFacts({ ...makeShownRouter([], { config: { profile }, pool: { tokenScale } }), kept });
  assert.deepEqual(document.kept, [
    { type: "round-robin", name: "turns", version: 1, as: "json", value: { last: 1, bySlot: [] } },
  ]);
  assert.deepEqual(document.lost, ["lora-affinity", "mine", "no-hit-lru"]);
  assert.deepEqual(Object.keys(document.tokenFactors), ["messages"]);
  assert.deepEqual(
    Object.entries(document.partTokens ?? {}).map(([target, kinds]) => [target, Object.keys(kinds)]),
    [["m", ["image"]]],
  );
  assert.doesNotMatch(JSON.stringify(document), /PRIVATE/);
});
