import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Draft } from "../../../apps/import/draft.ts";
import { configOf } from "../../../apps/import/write-config.ts";
import { loadTexts } from "../../../config/load.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { imported, profileOf } from "./imported.ts";

describe("LiteLLM's config", () => {
  const entry = (name: string, params: string) => `  - { model_name: "${name}", litellm_params: { ${params} } }\n`;

  it("gives replicas, and names that clients use", async () => {
    const { urls, aliases, spec } = await imported(
      `model_list:\n${entry("llama", "model: hosted_vllm/meta/llama, api_base: http://a:1/v1")}${entry("llama", "model: openai/meta/llama, api_base: http://b:1/v1")}` +
        `${entry("split", "model: hosted_vllm/v1, api_base: http://a:1/v1, weight: 9")}${entry("split", "model: hosted_vllm/v2, api_base: http://b:1/v1, weight: 1")}` +
        "router_settings: { routing_strategy: least-busy, num_retries: 3, model_group_alias: { gpt-4: llama } }\n",
    );
    assert.deepEqual(urls, ["http://a:1", "http://b:1"]);
    assert.deepEqual(aliases, { llama: { "meta/llama": 2 }, split: { v1: 9, v2: 1 }, "gpt-4": { "meta/llama": 2 } });
    assert.deepEqual(profileOf(spec), ["active-request", "max-score"]);
    assert.deepEqual(spec["limits"], { retries: 3 });
  });

  const group = (name: string, model = name) => entry(name, `model: vllm/${model}, api_base: "http://${name}:1"`);
  for (const [what, models, aliases, wanted] of [
    ["counts before entries of its name", group("a") + group("b"), "{ a: b }", { a: { b: 1 }, b: { b: 1 } }],
    ["is no share of them", group("a", "va") + group("a", "va2") + group("b"), "{ a: b }", { a: { b: 1 }, b: { b: 1 } }],
    ["may change places with another one", group("a", "va") + group("b", "vb"), "{ a: b, b: a }", { a: { vb: 1 }, b: { va: 1 } }],
    [
      "stands for entries, not for an alias",
      group("a", "va") + group("b", "vb"),
      "{ q: a, a: b }",
      { a: { vb: 1 }, b: { vb: 1 }, q: { va: 1 } },
    ],
    [
      "may stand for a name without entries",
      group("a", "va"),
      "{ q: { model: r, hidden: true } }",
      { a: { va: 1 }, q: { r: 1 } },
    ],
  ] as const)
    it(`an alias ${what}, as in LiteLLM, wherever it stands in the file`, async () => {
      const settings = `router_settings: { model_group_alias: ${aliases} }\n`;
      const list = `model_list:\n${models}`;
      for (const text of [settings + list, list + settings]) {
        const { aliases: made, by } = await imported(text);
        assert.deepEqual(made, wanted);
        const taken = by("taken over").filter((setting) => setting.startsWith("router_settings.model_group_alias."));
        assert.deepEqual(
          taken,
          [...aliases.matchAll(/([ab]):/g)].map(([, name]) => `router_settings.model_group_alias.${name}`),
        );
      }
    });

  const pools = (draft: Draft) =>
    draft.pools.map(({ name, urls, fallback }) => [name, [...urls].map((url) => new URL(url).hostname).join(" "), ...fallback]);
  for (const [what, models, settings, wanted, lost] of [
    [
      "go on to another pool, by its replicas' name",
      group("a", "va") + group("b", "vb") + group("c"),
      "router_settings: { fallbacks: [ { a: [b] } ] }",
      [
        ["a", "a", { pool: "b", modelRewrite: "vb" }],
        ["b", "b"],
      ],
      [],
    ],
    [
      "go on to other replicas of the same model",
      group("a", "m") + group("b", "m"),
      "litellm_settings: { fallbacks: [ { a: [b] } ] }",
      [
        ["a", "a", "b"],
        ["b", "b"],
      ],
      [],
    ],
    [
      "go on in turn, and both ways",
      group("a") + group("b") + group("c"),
      "router_settings: { fallbacks: [ { a: [b, c] }, { b: [a] } ] }",
      [
        ["a", "a", { pool: "b", modelRewrite: "b" }, { pool: "c", modelRewrite: "c" }],
        ["b", "b", { pool: "a", modelRewrite: "a" }],
        ["c", "c"],
      ],
      [],
    ],
    [
      "are usual for those that have none",
      group("a") + group("b") + group("c"),
      "router_settings: { fallbacks: [ { a: [c] } ], default_fallbacks: [b] }",
      [
        ["a", "a", { pool: "c", modelRewrite: "c" }],
        ["c", "c", { pool: "b", modelRewrite: "b" }],
        ["b", "b"],
      ],
      [],
    ],
    [
      "may be those of an alias",
      group("a") + group("b"),
      "router_settings: { model_group_alias: { q: a, z: b }, fallbacks: [ { q: [z] } ] }",
      [
        ["a", "a", { pool: "b", modelRewrite: "b" }],
        ["b", "b"],
      ],
      [],
    ],
    [
      "are left out for a provider's model, and for a name that is none",
      group("a") + group("b") + entry("gpt", "model: gpt-4o"),
      "router_settings: { fallbacks: [ { a: [gpt, b] }, { gpt: [a] }, { absent: [a] } ] }",
      [
        ["a", "a", { pool: "b", modelRewrite: "b" }],
        ["b", "b"],
      ],
      ["router_settings.fallbacks[1].gpt", "router_settings.fallbacks[2].absent", "router_settings.fallbacks[0].a[0]"],
    ],
    [
      "are left out where the same replicas go on in two ways",
      `${group("a")}${entry("a2", 'model: vllm/a2, api_base: "http://a:1"')}${group("b")}`,
      "router_settings: { fallbacks: [ { a: [b] } ] }",
      [],
      ["router_settings.fallbacks", "router_settings.fallbacks[0].a"],
    ],
  ] as const)
    it(`fallbacks ${what}`, async () => {
      for (const text of [`${settings}\nmodel_list:\n${models}`, `model_list:\n${models}${settings}\n`]) {
        const { draft, by } = await imported(text);
        assert.deepEqual(pools(draft), wanted);
        assert.deepEqual(
          by("left out").filter((setting) => setting.includes("fallbacks")),
          lost,
        );
        const { problems } = await loadTexts([{ file: "made", text: configOf(draft, "LiteLLM") }], builtIns);
        assert.deepEqual(problems, undefined);
      }
    });

  it("says what becomes of weights, also where one model has several replicas", async () => {
    const { aliases, by, draft } = await imported(
      `model_list:\n${entry("a", "model: vllm/m, api_base: http://a:1, weight: 1")}${entry("a", "model: vllm/m, api_base: http://b:1, weight: 9")}` +
        `${entry("b", "model: vllm/v1, api_base: http://a:1, weight: 0.2")}${entry("b", "model: vllm/v2, api_base: http://b:1, weight: much")}`,
    );
    assert.deepEqual(aliases, { a: { m: 10 }, b: { v1: 0.2, v2: 1 } });
    const weights = [0, 1, 2].map((index) => `model_list[${index}].litellm_params.weight`);
    assert.deepEqual(by("changed"), weights);
    assert.match(draft.findings.find(({ setting }) => setting === weights[1])?.why ?? "", /the profile decides/);
    assert.deepEqual(by("not understood"), ["model_list[3].litellm_params.weight"]);
  });

  it("says where a replica that is listed twice keeps its first key", async () => {
    process.env["SIGNALBOX_IMPORT_KEY"] = "sk-2";
    const { endpoints, by } = await imported(
      `model_list:\n${entry("a", "model: vllm/m, api_base: http://a:1")}${entry("b", "model: vllm/n, api_base: http://a:1, api_key: os.environ/SIGNALBOX_IMPORT_KEY")}`,
    );
    delete process.env["SIGNALBOX_IMPORT_KEY"];
    assert.deepEqual(endpoints, [{ url: "http://a:1" }]);
    assert.deepEqual(by("changed"), ["model_list[1]", "model_list[1].litellm_params.api_key"]);
  });

  it("leaves providers' models out, whatever they are called", async () => {
    const { urls, by } = await imported(
      `model_list:\n${entry("a", "model: azure/gpt-4o, api_base: https://x.openai.azure.com")}${entry("b", "model: gpt-4o")}` +
        `${entry("c", "model: openai/gpt-4o, api_base: https://api.openai.com/v1")}${entry("d", "model: anthropic/claude")}${entry("e", "model: openai/x, api_base: http://own:1")}`,
    );
    assert.deepEqual(urls, ["http://own:1"]);
    assert.deepEqual(by("left out"), ["model_list[0]", "model_list[1]", "model_list[2]", "model_list[3]"]);
  });

  it("takes keys from variables that are set, and repeats none", async () => {
    process.env["SIGNALBOX_IMPORT_KEY"] = "sk-2";
    const { endpoints, by, draft } = await imported(
      `model_list:\n${entry("a", "model: hosted_vllm/m, api_base: http://a:1, api_key: os.environ/SIGNALBOX_IMPORT_KEY")}` +
        `${entry("b", "model: hosted_vllm/m, api_base: http://b:1, api_key: sk-3")}${entry("c", "model: hosted_vllm/m, api_base: http://c:1, api_key: os.environ/SIGNALBOX_UNSET_KEY")}` +
        `${entry("d", "model: hosted_vllm/m, api_base: http://d:1, api_key: none")}`,
    );
    delete process.env["SIGNALBOX_IMPORT_KEY"];
    assert.deepEqual(
      endpoints.map(({ auth }) => auth?.bearer),
      ["env:SIGNALBOX_IMPORT_KEY", undefined, undefined, undefined],
    );
    assert.deepEqual(by("left out"), ["model_list[1].litellm_params.api_key", "model_list[2].litellm_params.api_key"]);
    assert.doesNotMatch(JSON.stringify(draft), /sk-[23]/);
  });

  it("has unknown keys at every place named with their line", async () => {
    const { draft } = await imported(
      `model_list:\n${entry("a", "model: vllm/m, api_base: http://a:1, constructor: 1")}  - { model_name: x }\n  - 7\nrouter_settings:\n  toString: 1\nown: 2\n`,
    );
    const odd = draft.findings.filter(({ effect }) => effect === "not understood");
    assert.deepEqual(
      odd.map(({ setting, line }) => [setting, line]),
      [
        ["model_list[0].litellm_params.constructor", 2],
        ["model_list[1]", 3],
        ["model_list[2]", 4],
        ["router_settings.toString", 6],
        ["own", 7],
      ],
    );
  });
});
