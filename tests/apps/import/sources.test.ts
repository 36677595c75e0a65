import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sourceOf } from "../../../apps/import/sources.ts";
import { imported, profileOf, sourceText } from "./imported.ts";

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
