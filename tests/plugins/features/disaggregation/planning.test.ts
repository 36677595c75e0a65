import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Profile } from "../../../../core/active-config.ts";
import { estimateAt } from "../../../../core/contract/estimate.ts";
import type { InferenceRequest } from "../../../../core/contract/request.ts";
import { makeEndpoint, makeLoad, makeRequest } from "../../../../core/contract/test-kit.ts";
import { decide } from "../../../../core/decide/decide.ts";
import { factsOf } from "../../../../core/state/facts.ts";
import type { DisaggregationConfig } from "../../../../plugins/features/disaggregation/disaggregation-config.ts";
import { GenerationTime } from "../../../../plugins/features/disaggregation/generation-time.ts";
import { Planning } from "../../../../plugins/features/disaggregation/planning.ts";
import { TransferTimes } from "../../../../plugins/features/disaggregation/transfer-times.ts";
import { nixl } from "../../../../plugins/features/disaggregation/transfers/nixl.ts";
import { sglang } from "../../../../plugins/features/disaggregation/transfers/sglang.ts";
import { makeActiveConfig } from "../../../support/active-config.ts";

const CONFIG: DisaggregationConfig = {
  ...{ transfer: "nixl", decider: "always", prefillTimeoutMs: 1_000, prefill: undefined, decode: undefined, roles: undefined },
};
const UTF8 = new TextEncoder();

interface Given {
  /** The role of each endpoint, in the order in which they are tried. */
  readonly roles: readonly string[];
  readonly config?: Partial<DisaggregationConfig>;
  readonly transfer?: typeof nixl;
  readonly request?: Partial<InferenceRequest>;
  readonly others?: ReadonlyMap<string, Profile>;
}

function plan({ roles, config, transfer = nixl, request = {}, others = new Map() }: Given) {
  const endpoints = roles.map((role, slot) => makeEndpoint(slot, { labels: role === "" ? {} : { "llm-d.ai/role": role } }));
  const planning = new Planning({ ...CONFIG, ...config }, transfer, new TransferTimes(), new GenerationTime());
  const active = makeActiveConfig({ others });
  planning.use(active);
  const asked = makeRequest({ promptTokens: 1_000, promptSpans: [[0, 3]], ...request });
  // Each endpoint has so many tokens of others as its slot says.
  const load = makeLoad(roles.length, { remainingPrefill: (slot) => slot * 1_000 });
  return planning.plan({
    ...{ request: asked, load, profile: active.profile },
    decide: (profile) => decide(asked, factsOf(endpoints), profile as Profile, load, Math.random),
  });
}

/** The legs of a decision, each with its endpoints. */
const shown = (given: Given) =>
  plan(given).legs.map(({ role = "all", order }) => `${role} ${order.map(({ name }) => name).join(" ")}`);

describe("the legs of a request", () => {
  const rows: readonly (readonly [name: string, given: Given, legs: readonly string[]])[] = [
    ["a prefill and a decode endpoint", { roles: ["prefill", "decode"] }, ["decode e1", "prefill e0"]],
    ["several of each, best first", { roles: ["prefill", "decode", "prefill", "decode"] }, ["decode e1 e3", "prefill e0 e2"]],
    [
      "endpoints that do either: never one for both legs",
      { roles: ["both", "both", "both"] },
      ["decode e0 e1 e2", "prefill e1 e2"],
    ],
    ["one that does either, alone", { roles: ["both"] }, ["all e0"]],
    ["none for answers", { roles: ["prefill", "prefill"] }, ["all "]],
    ["none for prompts", { roles: ["decode", "decode"] }, ["all e0 e1"]],
    ["none with a role", { roles: ["", ""] }, ["all e0 e1"]],
    ["an endpoint without a role is the best for the answer", { roles: ["", "prefill", "decode"] }, ["all e0 e2"]],
    ["the config says never", { roles: ["prefill", "decode"], config: { decider: "never" } }, ["all e1"]],
    [
      "the config says never, and the answer's engine can't do without",
      { roles: ["prefill", "decode"], config: { decider: "never" }, transfer: sglang },
      ["decode e1", "prefill e0"],
    ],
    ["an API without a prompt that stays", { roles: ["prefill", "decode"], request: { api: "embeddings" } }, ["all e1"]],
    ["a prompt that nobody knows", { roles: ["prefill", "decode"], request: { promptTokens: 0 } }, ["all e1"]],
    ["a follow-up of another request", { roles: ["prefill", "decode"], request: { isFollowUp: true } }, ["all e1"]],
    ["several choices", { roles: ["prefill", "decode"], request: { choices: 2 } }, ["all e1"]],
    ["a list of texts", { roles: ["prefill", "decode"], request: completion('[ "a"]') }, ["all e1"]],
    ["a list of lists", { roles: ["prefill", "decode"], request: completion("[[1],[2]]") }, ["all e1"]],
    ["a list of tokens", { roles: ["prefill", "decode"], request: completion("[ 1,2]") }, ["decode e1", "prefill e0"]],
    ["a list without an end", { roles: ["prefill", "decode"], request: completion("[   ") }, ["decode e1", "prefill e0"]],
  ];
  for (const [name, given, legs] of rows) it(name, () => assert.deepEqual(shown(given), legs));
});

function completion(body: string): Partial<InferenceRequest> {
  return { api: "completions", body: UTF8.encode(body), promptSpans: [[0, body.length]] };
}

describe("a decision with a pair", () => {
  it("has estimates that are those of its endpoints", () => {
    const { legs } = plan({ roles: ["both", "both", "both"] });
    const waiting = legs.map((leg) => leg.order.map((_, place) => estimateAt(leg, place)?.waitingTokens));
    assert.deepEqual(waiting, [
      [0, 1_000, 2_000],
      [1_000, 2_000],
    ]);
  });

  it("says why no pair was made, in words", () => {
    for (const given of [{ roles: ["decode"] }, { roles: ["both"] }, { roles: ["", "decode"] }]) {
      const { pairing } = plan(given);
      assert.equal(pairing!.isPaired, false);
      assert.match(pairing!.why, /^[A-Z].*\.$/);
    }
  });

  it("refuses where no endpoint may generate, and says what to do", () => {
    const { refusal, pairing } = plan({ roles: ["prefill"] });
    assert.match(refusal!.message, /llm-d\.ai\/role: decode/);
    assert.equal(pairing, undefined);
  });

  it("is made by the profiles of the config, each for its leg", () => {
    const backwards = (name: string): Profile => ({
      ...makeActiveConfig().profile,
      name,
      picker: { name, type: name, plugin: { pick: (candidates) => candidates.toReversed() } },
    });
    const others = new Map([["disaggregation.prefill", backwards("p")]]);
    const given = { roles: ["prefill", "prefill", "decode", "decode"], others };
    assert.deepEqual(shown(given), ["decode e2 e3", "prefill e1 e0"]);
    assert.deepEqual(
      plan(given).legs.map(({ profile }) => profile),
      ["default", "p"],
    );
  });
});
