import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandsIn } from "../../../apps/import/command-line.ts";
import { Draft } from "../../../apps/import/draft.ts";
import type { SourceText } from "../../../apps/import/source.ts";
import { sourceOf } from "../../../apps/import/sources.ts";
import { configOf } from "../../../apps/import/write-config.ts";
import { loadTexts } from "../../../config/load.ts";
import { builtIns } from "../../../plugins/registry.ts";

const sourceText = (text: string): SourceText => ({ file: "f", text, commands: commandsIn(text), registry: builtIns });

/** What becomes of a text: its kind, the spec, addresses, names, and the settings by effect. */
async function imported(text: string, from?: string) {
  const draft = new Draft();
  const source = sourceText(text);
  const found = sourceOf(from, source);
  await found.read(source, draft);
  const by = (effect: string) => draft.findings.filter((each) => each.effect === effect).map(({ setting }) => setting);
  const aliases = Object.fromEntries([...draft.aliases].map(([model, targets]) => [model, Object.fromEntries(targets)]));
  return {
    kind: found.kind,
    spec: draft.spec,
    urls: draft.endpoints.map(({ url }) => url),
    endpoints: draft.endpoints,
    aliases,
    by,
    draft,
  };
}

const profileOf = (spec: Record<string, unknown>) =>
  (spec["profiles"] as { plugins: { pluginRef: string }[] }[] | undefined)?.[0]?.plugins.map(({ pluginRef }) => pluginRef);

describe("a text's kind", () => {
  const KINDS = [
    ["llm-d", "apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\n"],
    ["litellm", "model_list: []\n"],
    ["production-stack-values", "routerSpec: {}\n"],
    ["nginx", "http { upstream a { server b:1; } }"],
    ["production-stack", "vllm-router --routing-logic roundrobin --static-backends http://a:1"],
    ["vllm-router", "exec /usr/bin/vllm-router --worker-urls http://a:1"],
    ["smg", "python3 -m sglang_router.launch_router --worker-urls http://a:1"],
    ["smg", "[Service]\nExecStart=/usr/bin/smg --worker-urls http://a:1\n"],
  ] as const;
  for (const [kind, text] of KINDS) it(`is ${kind}`, () => assert.equal(sourceOf(undefined, sourceText(text)).kind, kind));

  it("is asked for where nobody recognises it; a kind that is none is refused", () => {
    const source = sourceText("hello");
    assert.throws(
      () => sourceOf(undefined, source),
      /f is nothing that is recognised; name what it is with --from: llm-d, litellm/,
    );
    assert.throws(() => sourceOf("haproxy", source), /--from wants one of llm-d, .*not "haproxy"/);
  });
});

describe("policies", () => {
  const POLICIES = [
    ["round_robin", ["round-robin"]],
    ["random", ["random"]],
    ["power_of_two", ["active-request", "power-of-two"]],
    ["least_load", ["active-request", "max-score"]],
    ["cache_aware", undefined],
    ["consistent_hashing", ["session-affinity-filter", "outstanding-work"]],
  ] as const;
  for (const [policy, plugins] of POLICIES)
    it(`${policy} becomes ${plugins?.join(" and ") ?? "the default profile"}`, async () => {
      const { spec, by } = await imported(`smg --worker-urls http://a:1 --policy ${policy}`);
      assert.deepEqual(profileOf(spec), plugins);
      assert.deepEqual(by("not understood"), []);
    });

  it("that nobody knows are not understood", async () => {
    const { by, spec } = await imported("smg --worker-urls http://a:1 --policy constructor");
    assert.deepEqual([by("not understood"), spec["profiles"]], [["--policy"], undefined]);
  });
});

describe("command lines", () => {
  const LATER = [
    { text: "--port 1 --port 2", lost: ["--port"], listen: 2 },
    { text: "--disable-retries --retry-max-retries 5", lost: ["--retry-max-retries"], retries: 0 },
    { text: "--retry-max-retries 5 --disable-retries", lost: ["--retry-max-retries"], retries: 0 },
    { text: "--disable-circuit-breaker --cb-timeout-duration-secs 9", lost: ["--cb-timeout-duration-secs"], ejection: false },
    { text: "--cb-timeout-duration-secs 9 --disable-circuit-breaker", lost: ["--cb-timeout-duration-secs"], ejection: false },
    { text: "--policy random --policy round_robin", lost: ["--policy"] },
    { text: "--service-discovery-port 9", lost: ["--service-discovery-port"] },
    { text: "--retry-max-retries 5 --retry-max-retries 5", lost: [], retries: 5 },
  ];
  for (const { text, lost, listen = 30_000, retries, ejection } of LATER)
    it(`${text}: what another switch overrules is left out`, async () => {
      const { spec, by } = await imported(`smg --worker-urls http://a:1 ${text}`);
      assert.deepEqual(by("left out"), lost);
      assert.equal((spec["listen"] as { port: number }).port, listen);
      assert.equal((spec["limits"] as { retries?: number } | undefined)?.retries, retries);
      assert.deepEqual([spec["ejection"], spec["kubernetes"]], [ejection, undefined]);
    });

  it("with a session's header bind clients by the router's token", async () => {
    const { spec, by } = await imported("vllm-router --static-backends http://a:1 --routing-logic session --session-key x-user");
    assert.deepEqual(profileOf(spec), ["session-affinity-filter", "outstanding-work"]);
    assert.deepEqual(by("changed"), ["--routing-logic", "--session-key"]);
  });

  it("of vllm-router and SMG are read with their lists, times and sizes", async () => {
    const { spec, urls, by, aliases } = await imported(
      "smg --worker-urls http://a:1 http://b:2/v1 --worker-urls http://c:3 --port=9 --host h --max-payload-size 1000 " +
        "--request-timeout-secs 5 --health-check-interval-secs 30 --disable-retries --disable-circuit-breaker --model-alias x=y",
    );
    assert.deepEqual(urls, ["http://a:1", "http://b:2", "http://c:3"]);
    assert.deepEqual(spec["listen"], { host: "h", port: 9 });
    assert.deepEqual(spec["limits"], { bodyBytes: 1000, responseTimeoutMs: 5000, retries: 0 });
    assert.deepEqual(spec["pool"], { probes: { liveness: { periodSeconds: 30 }, readiness: { periodSeconds: 30 } } });
    assert.deepEqual([spec["ejection"], aliases, by("not understood")], [false, { x: { y: 1 } }, []]);
  });

  it("that find pods become spec.kubernetes", async () => {
    const { spec } = await imported(
      "vllm-router --service-discovery --selector app=vllm role=x --service-discovery-port 8000 --service-discovery-namespace llm",
    );
    const ports = { prefill: [8000], decode: [8000], standalone: [8000] };
    assert.deepEqual(spec["kubernetes"], { selector: { app: "vllm", role: "x" }, ports, namespace: "llm" });
  });

  it("of production-stack's router are read with backends and aliases; their models are asked for", async () => {
    const { spec, urls, aliases, by } = await imported(
      "vllm-router --port 8001 --service-discovery static --static-backends http://a:1,http://b:2 --static-models m,m --static-aliases gpt:m --routing-logic session --session-key x-user",
    );
    assert.deepEqual(urls, ["http://a:1", "http://b:2"]);
    assert.deepEqual(spec["listen"], { host: "0.0.0.0", port: 8001 });
    assert.deepEqual(
      [aliases, by("changed"), by("not understood")],
      [{ gpt: { m: 1 } }, ["--routing-logic", "--session-key"], []],
    );
  });

  for (const [kind, command] of [
    ["smg", "smg launch --worker-urls"],
    ["smg", "python3 -m sglang_router.launch_router --worker-urls"],
    ["vllm-router", "vllm-router --worker-urls"],
    ["production-stack", "vllm-router --service-discovery static --static-backends"],
  ] as const)
    it(`several times in one script, as ${command}, give one config, and the others are named with their lines`, async () => {
      const script = `set -e\n${command} http://a:1 &\n${command} http://b:1 --port 3001 &\n${command} http://c:1\n`;
      const { kind: found, urls, draft } = await imported(script);
      assert.deepEqual([found, urls], [kind, ["http://a:1"]]);
      const others = draft.findings.filter(({ setting }) => setting === "a further command of the router");
      assert.deepEqual(
        others.map(({ line, effect }) => [line, effect]),
        [
          [3, "left out"],
          [4, "left out"],
        ],
      );
      assert.match(others[0]?.why ?? "", /that in line 2 was taken/);
    });

  const ODD = [
    { name: "an unknown switch, whose value may be a secret", text: "--bogus sk-1", odd: ["--bogus"] },
    { name: "a number that is none", text: "--port eighty", odd: ["--port"] },
    { name: "a port that is none", text: "--port 70000", odd: ["--port"] },
    { name: "a switch without its value", text: "--port --policy random", odd: ["--port"] },
    { name: "a variable of the shell", text: "--worker-urls http://$HOST:1", odd: ["--worker-urls (address 1)"] },
    { name: "an address that is none", text: "--worker-urls grpc://b:1", odd: ["--worker-urls (address 1)"] },
    { name: "a value where none belongs", text: "--disable-retries=false", odd: ["--disable-retries"] },
    { name: "a further command", text: "; rm -rf x", odd: ["a command that is not the router's"] },
    { name: "a selector without labels", text: "--selector app", odd: ["--selector"] },
    { name: "an inherited name", text: "--__proto__ 1", odd: ["--__proto__"] },
  ];
  for (const { name, text, odd } of ODD)
    it(`with ${name} say so`, async () => {
      const { by, draft } = await imported(`smg --worker-urls http://a:1 ${text}`);
      assert.deepEqual(by("not understood"), odd);
      assert.doesNotMatch(JSON.stringify(draft.findings), /sk-1/);
    });

  it("of prefill and decode servers list them, and say that they are not separated here", async () => {
    const { urls, by } = await imported("vllm-router --vllm-pd-disaggregation --prefill http://p:1 9000 --decode http://d:1");
    assert.deepEqual(urls, ["http://p:1", "http://d:1"]);
    assert.deepEqual(by("left out"), ["--vllm-pd-disaggregation", "--prefill", "--decode"]);
  });
});

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

describe("Helm values of production-stack", () => {
  it("find the pods by the chart's labels, at their port", async () => {
    const { spec, by } = await imported(
      "servingEngineSpec: { labels: { team: a }, containerPort: 9000, modelSpec: [ { name: m, replicaCount: 2 } ] }\nrouterSpec: { routingLogic: roundrobin }\n",
    );
    assert.deepEqual(spec["kubernetes"], {
      selector: { environment: "test", release: "test", team: "a" },
      ports: { prefill: [9000], decode: [9000], standalone: [9000] },
    });
    assert.deepEqual([profileOf(spec), by("not understood")], [["round-robin"], []]);
  });

  it("say which labels are none, and that labels find nothing where backends are listed", async () => {
    const odd = await imported("servingEngineSpec: { labels: { team: a, 'no': [1] } }\nrouterSpec: { routingLogic: session }\n");
    assert.deepEqual(odd.by("not understood"), ["servingEngineSpec.labels.no"]);
    const listed = await imported(
      'servingEngineSpec: { labels: { team: a }, containerPort: 9 }\nrouterSpec: { serviceDiscovery: static, staticBackends: "http://a:1" }\n',
    );
    assert.deepEqual(listed.by("no meaning here"), ["servingEngineSpec.labels", "routerSpec.serviceDiscovery"]);
    assert.deepEqual([listed.by("left out"), listed.spec["kubernetes"]], [["servingEngineSpec.containerPort"], undefined]);
  });

  it("list backends that are static, and read the router's further switches", async () => {
    const { spec, urls, by } = await imported(
      'routerSpec: { serviceDiscovery: static, staticBackends: "http://a:1,http://b:2", extraArgs: ["--host", "h", "--what"], new: 1 }\n',
    );
    assert.deepEqual([urls, spec["kubernetes"]], [["http://a:1", "http://b:2"], undefined]);
    assert.deepEqual((spec["listen"] as { host: string }).host, "h");
    assert.deepEqual(by("not understood"), ["--what", "routerSpec.new"]);
  });
});

describe("nginx's config", () => {
  it("gives replicas, the port, times and sizes", async () => {
    const { spec, urls, by } = await imported(
      "http { upstream v { least_conn; server a:1 weight=2; server b:2 down; server [::1]:3; }\n server { listen [::]:80; client_max_body_size 64m; location / { proxy_pass https://v; proxy_read_timeout 10m; } } }",
    );
    assert.deepEqual(urls, ["https://a:1", "https://[::1]:3"]);
    assert.deepEqual(spec["listen"], { host: "::", port: 80 });
    assert.deepEqual(spec["limits"], { bodyBytes: 64 * 1024 ** 2, streamIdleTimeoutMs: 600_000 });
    assert.deepEqual([profileOf(spec), by("left out"), by("not understood")], [["active-request", "max-score"], ["server"], []]);
  });

  it("says what becomes of options of servers and ports", async () => {
    const { draft } = await imported(
      "upstream v { server a:1 max_fails=2 slow_start=9s; server b:2 frob; }\nserver { listen 80 proxy_protocol; listen 81; }",
    );
    assert.deepEqual(
      draft.findings.map(({ effect, why }) => [effect, why.replace(/^.*?; /, "")]),
      [
        [
          "changed",
          "spec.ejection decides when a replica that fails is out, and for how long; a replica that returns gets few requests at first",
        ],
        ["not understood", "its option frob"],
        ["left out", "spec.listen, without the PROXY protocol, which is not read here"],
        ["left out", "this is a further one"],
      ],
    );
  });

  it("with several upstreams is one pool with labels; what is unknown is named", async () => {
    const { endpoints, by } = await imported(
      "upstream a { server x:1; }\nupstream b { server y:1; server $v; frob 1; }\nserver { location /b { proxy_pass http://b; } toString 1; }",
    );
    assert.deepEqual(endpoints, [
      { url: "http://x:1", labels: { upstream: "a" } },
      { url: "http://y:1", labels: { upstream: "b" } },
    ]);
    assert.deepEqual(by("not understood"), ["server", "frob", "toString"]);
  });
});
