/** What is configured and can't work, as far as the config tells: `signalbox check` warns of it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { loadTexts } from "../../config/load.ts";
import { builtIns } from "../../plugins/registry.ts";

const ENDPOINTS = "  pool: { endpoints: [{ url: http://gpu1:8000, labels: { gpu: a100 } }, { url: http://gpu2:8000 }] }\n";
const route = (path: string) =>
  `  plugins: [{ type: passthrough, parameters: { routes: [{ method: POST, path: "${path}" }] } }]\n`;
const byLabel = (value: string) => `  plugins: [{ type: by-label, parameters: { label: gpu, validValues: [${value}] } }]\n`;

async function warningsOf(spec: string, documents = ""): Promise<readonly string[]> {
  const text = `apiVersion: signalbox/v1\nkind: Router\nspec:\n${spec}${documents}`;
  const { warnings, problems = [] } = await loadTexts([{ file: "test.yaml", text }], builtIns);
  assert.deepEqual(problems, []);
  return warnings.map(({ path, found }) => `${path}: ${found}`);
}

/** A warning's words, or none where the config can work. */
const ROWS: readonly (readonly [name: string, spec: string, warning: RegExp | undefined])[] = [
  [
    "passthrough, of a path that is routed by its model",
    route("/v1/chat/completions"),
    /"POST \/v1\/chat\/completions" of "passthrough", which takes it from the parser "chat-completions": requests there go to any ready replica/,
  ],
  ["passthrough, of an engine's path", route("/v1/rerank"), /takes it from the parser "model-paths"/],
  ["passthrough, of a stored thing's path", route("/v1/responses/{response}/cancel"), /takes it from the parser "stored-paths"/],
  ["passthrough, of a path that nothing else serves", route("/v1/mine"), undefined],
  [
    "passthrough, with another method",
    "  plugins: [{ type: passthrough, parameters: { routes: [{ method: GET, path: /v1/rerank }] } }]\n",
    undefined,
  ],
  [
    "model-paths, of a path whose prompts are read",
    "  plugins: [{ type: model-paths, parameters: { routes: [{ path: /v1/completions }] } }]\n",
    /takes it from the parser "completions": their prompts are not read/,
  ],
  [
    "model-paths, of a further path",
    "  plugins: [{ type: model-paths, parameters: { routes: [{ path: /v1/more }] } }]\n",
    undefined,
  ],
  [
    "a label that no endpoint has",
    byLabel("h100"),
    /the filter "by-label", which can't do its work: no replica has the label gpu with one of its values/,
  ],
  ["a label that one has", byLabel("a100"), undefined],
  [
    "a label, where replicas are found",
    `${byLabel("h100").replace("[{ type: by", "[{ type: dns, parameters: { record: A, host: gpus, port: 8000 } }, { type: by")}`,
    undefined,
  ],
  [
    "a selector",
    "  plugins: [{ type: label-selector, parameters: { matchLabels: { gpu: h100 } } }]\n",
    /no replica has labels that it selects/,
  ],
  [
    "lengths",
    "  plugins: [{ type: context-length-aware }]\n",
    /no replica has a range of lengths in the label llm-d.ai\/context-length-range/,
  ],
  [
    "places",
    "  plugins: [{ type: topology-filter, parameters: { near: { zone: a } } }]\n",
    /no replica has any of the labels kubernetes.io\/hostname, /,
  ],
  [
    "places, by a label that one has",
    "  plugins: [{ type: topology-scorer, parameters: { near: { zone: a }, labels: { zone: gpu } } }]\n",
    undefined,
  ],
  ["numbers that metrics report", "  plugins: [{ type: queue }, { type: kv-cache-utilization }]\n", undefined],
  [
    "keep-alive of what is no stream",
    "  keepAlive: { paths: [/v1/embeddings] }\n",
    /keepAlive.paths\[0\]: "\/v1\/embeddings", whose responses are no event streams/,
  ],
  [
    "an early head where nothing is known of streams",
    "  keepAlive: { paths: [/v1/audio/speech], beforeHeadMs: 1000 }\n",
    /no head is sent early there/,
  ],
  [
    "keep-alive where streams may be",
    "  keepAlive: { paths: [/v1/chat/completions, /v1/messages, /v1/audio/speech] }\n",
    undefined,
  ],
  [
    "pairs without roles",
    "  disaggregation: { decider: always }\n",
    /makes no pairs: no endpoint processes prompts, and none generates answers/,
  ],
  [
    "events' ports without a place",
    "  kvEvents: { replayPort: 5657 }\n",
    /kvEvents.replayPort: replayPort without port or label/,
  ],
  ["events' ranks without a place", "  kvEvents: { ranks: 4 }\n", /kvEvents.ranks: ranks without/],
  ["events with all of it", "  kvEvents: { port: 5557, replayPort: 5657, ranks: 4 }\n", undefined],
  [
    "sessions that nothing tells apart",
    "  sessions: { byPrompt: false, headers: [], bodyKeys: [] }\n",
    /sessions that nothing tells apart/,
  ],
  ["sessions by prompts", "  sessions: { headers: [], bodyKeys: [] }\n", undefined],
  ["a priority in the place of none", "  admission: { overridesPriority: true }\n", /overridesPriority without enginePriority/],
  ["a share of less than one endpoint", "  ejection: { maxShare: 0.4 }\n", /less than one: none is ever ejected/],
  ["a share of one endpoint", "  ejection: { maxShare: 0.5 }\n", undefined],
];

describe("check warns of what can't work", () => {
  for (const [name, spec, warning] of ROWS)
    it(`${warning === undefined ? "not of " : ""}${name}`, async () => {
      const warnings = await warningsOf(`${/type: dns/.test(spec) ? "" : ENDPOINTS}${spec}`);
      if (warning === undefined) assert.deepEqual(warnings, []);
      else {
        assert.equal(warnings.length, 1, warnings.join("\n"));
        assert.match(warnings[0]!, warning);
      }
    });

  it("pairs with endpoints for both", async () => {
    const endpoints = ["prefill", "decode"].map((role) => `{ url: http://${role}:1, labels: { llm-d.ai/role: ${role} } }`);
    assert.deepEqual(await warningsOf(`  pool: { endpoints: [${endpoints.join()}] }\n  disaggregation: {}\n`), []);
    const [only] = await warningsOf(`  pool: { endpoints: [${endpoints[1]}] }\n  disaggregation: {}\n`);
    assert.match(only!, /no endpoint processes prompts$/);
  });

  it("names the pool of a Pool document", async () => {
    const pool = `---\napiVersion: signalbox/v1\nkind: Pool\nmetadata: { name: far }\nspec:\n  models: [m]\n${ENDPOINTS}${byLabel("h100")}`;
    const [warning] = await warningsOf("  admin: false\n", pool);
    assert.match(warning!, /the filter "by-label" of the pool "far", which can't do its work/);
  });

  it("numbers that nothing reads, in a config of the reference router", async () => {
    const picker = `apiVersion: inference.networking.x-k8s.io/v1alpha1
kind: EndpointPickerConfig
plugins: [{ type: queue-scorer }, { type: max-score-picker }]
schedulingProfiles: [{ name: default, plugins: [{ pluginRef: queue-scorer }, { pluginRef: max-score-picker }] }]
`;
    const unmet = async (text: string) => {
      const { problems = [], warnings } = await loadTexts([{ file: "test.yaml", text }], builtIns, ["http://gpu1:8000"]);
      assert.deepEqual(problems, []);
      return warnings.filter(({ found }) => /no replica reports how many requests wait/.test(found)).length;
    };
    assert.equal(await unmet(picker), 0);
    assert.equal(await unmet(`${picker}dataLayer: { injectDefaults: false }\n`), 1);
  });
});
