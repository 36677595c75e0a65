import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { checkConfig } from "../../../../config/show/check.ts";
import { builtIns } from "../../../../plugins/registry.ts";
import { run } from "../../../support/cli.ts";
import { sampled } from "../../../support/sample.ts";
import { sharedPath } from "../../../support/shared.ts";

const folder = mkdtempSync(join(tmpdir(), "signalbox-import-"));
after(() => rmSync(folder, { recursive: true }));
let files = 0;

function write(text: string | Uint8Array): string {
  const file = join(folder, `source-${++files}`);
  writeFileSync(file, text);
  return file;
}

/** Imports a file into another one, which must pass the check. */
async function imports(...argv: string[]) {
  const made = join(folder, `made-${++files}.yaml`);
  const ended = await run("import", ...argv, "-o", made);
  if (!existsSync(made)) return { ...ended, made: undefined };
  const { text, isValid } = await checkConfig({ paths: [made], urls: [], isJson: false, isStrict: false }, builtIns);
  assert.ok(isValid, `${argv.join(" ")}: ${text}`);
  return { ...ended, made: readFileSync(made, "utf8") };
}

const SMG = "smg --worker-urls http://a:1 --port 0 --policy random";

describe("signalbox import", () => {
  it("writes a config with a comment for each setting, and says on the standard error what was not understood", async () => {
    const { code, out, err } = await run("import", write(`${SMG} --bogus 1 --api-key sk-secret\n`));
    assert.equal(code, 3);
    assert.match(out, /^# Made of SMG by signalbox import\./);
    assert.match(out, /^# taken over:\n(#.*\n)*# {3}--policy \(line 1\): spec\.profiles$/m);
    assert.match(out, /^ {4}port: 0 # from --port$/m);
    assert.match(err, /^not understood: --bogus \(line 1\): the router there has no such switch/m);
    assert.match(err, /^left out: --api-key \(line 1\)/m);
    assert.match(err, /SMG: \d+ taken over, .* 1 not understood\.\n$/);
    assert.doesNotMatch(out + err, /sk-secret/);
  });

  it("ends with 0 where all is understood, whatever the line ends are, and reads a command of its own command line", async () => {
    assert.equal((await imports(write(SMG))).code, 0);
    assert.equal((await imports(write(`\uFEFF${SMG.replace(" --policy", " \\\r\n --policy")}\r\n`))).code, 0);
    const { code, out } = await run("import", "--", ...SMG.split(" "));
    assert.equal(code, 0);
    assert.match(out, /url: http:\/\/a:1/);
  });

  it("takes further replicas as URLs, and overwrites no file", async () => {
    const file = write("model_list: [ { model_name: a, litellm_params: { model: gpt-4o } } ]\n");
    const none = await run("import", file);
    assert.equal(none.code, 1);
    assert.match(
      none.err,
      /left out: model_list\[0\].*a provider's model.*names no replica.*signalbox import .* http:\/\/gpu1:8000/s,
    );
    const { made } = await imports(file, "http://own:1");
    assert.match(made ?? "", /url: http:\/\/own:1/);
    const kept = write("mine");
    const refused = await run("import", file, "http://own:1", "-o", kept);
    assert.deepEqual([refused.code, readFileSync(kept, "utf8")], [1, "mine"]);
    assert.match(refused.err, /was not written: .*Name a file that does not exist yet/);
  });

  it("takes no variable of the environment for what a foreign config says", async () => {
    process.env["SIGNALBOX_IMPORT_PROBE"] = "leaked";
    const models = `{ model_name: "\${SIGNALBOX_IMPORT_PROBE}", litellm_params: { model: "vllm/\${NOT_THERE}", api_base: "http://a:1" } }`;
    const { made, out, err } = await imports(write(`model_list: [ ${models} ]\n`));
    delete process.env["SIGNALBOX_IMPORT_PROBE"];
    assert.match(made ?? "", /value: \$\$\{SIGNALBOX_IMPORT_PROBE\}/);
    assert.doesNotMatch(`${made}${out}${err}`, /leaked/);
  });

  it("puts no line of its own into the config for names with line ends", async () => {
    const models = '{ model_name: "x\\n  admin: false", litellm_params: { model: "vllm/y", api_base: "http://a:1" } }';
    const { err } = await run("import", write(`model_list: [ ${models} ]\n"k\\nspec: 1": 2\n`));
    assert.doesNotMatch(err, /^ *spec: 1/m);
  });

  it("names every bad parameter and entry of an EndpointPickerConfig at once, with its line in the file", async () => {
    const file = write(`apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
plugins:
- { type: my-scorer, name: mine }
- type: queue-scorer
  parameters:
    first: 1
    second: 2
- { type: kv-cache-utilization-scorer }
- { type: mm-embeddings-cache-scorer }
schedulingProfiles:
- name: prefill
  plugins: [ { pluginRef: mine }, { pluginRef: queue-scorer } ]
- name: other
  plugins: []
- name: decode
  plugins: [ { pluginRef: mine }, { pluginRef: queue-scorer }, { pluginRef: kv-cache-utilization-scorer }, { pluginRef: absent } ]
`);
    const { code, err, made } = await imports(file, "http://a:1");
    assert.equal(code, 3);
    for (const told of [
      /^not understood: plugins\[0\]\.type \(line 4\): the unknown plugin type "my-scorer"/m,
      /^not understood: plugins\[1\]\.parameters\.first \(line 7\): the unknown key "first"/m,
      /^not understood: plugins\[1\]\.parameters\.second \(line 8\): the unknown key "second"/m,
      /^left out: plugins\[3\]\.type \(line 10\)/m,
      /^left out: schedulingProfiles\[1\] \(line 14\): 3 profiles/m,
      /^not understood: schedulingProfiles\[2\]\.plugins\[3\]\.pluginRef \(line 17\): "absent"/m,
    ])
      assert.match(err, told);
    // Of plugins, then of the profile.
    const plugins = [...(made ?? "").matchAll(/^ {4}- name: (.*)$/gm)].map(([, name]) => name);
    assert.deepEqual(plugins, ["kv-cache-utilization-scorer", "decode"]);
  });

  it("takes the profiles of prompts and answers over, without what an EndpointPickerConfig says of encoding", async () => {
    const file = write(`apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
plugins:
- { type: prefix-based-pd-decider, parameters: { nonCachedTokens: 512 } }
- { type: always-disagg-multimodal-decider }
- type: disagg-profile-handler
  parameters: { deciders: { encode: always-disagg-multimodal-decider, prefill: prefix-based-pd-decider } }
schedulingProfiles:
- { name: encode, plugins: [ { pluginRef: encode-filter } ] }
- { name: prefill, plugins: [ { pluginRef: prefill-filter } ] }
- { name: decode, plugins: [ { pluginRef: decode-filter }, { pluginRef: queue-scorer, weight: 3 } ] }
`);
    const { code, err, made = "" } = await imports(file, "http://a:1");
    assert.equal(code, 0, err);
    assert.equal(err.match(/^left out: .*(deciders\.encode|plugins\[1\]\.type|schedulingProfiles\[0\]\.name)/gm)?.length, 3, err);
    assert.match(made, /- name: decode\n(.*\n)*? +- pluginRef: queue-scorer\n +weight: 3\n/);
    assert.match(made, /disaggregation:\n +transfer: side-car\n +decider:\n +uncachedTokens: 512\n +prefill:\n +name: prefill\n/);
  });

  it("compares the scheme of an EndpointPickerConfig's metrics with the replicas that are named", async () => {
    const file = write(
      "apiVersion: llm-d.ai/v1\nkind: EndpointPickerConfig\nplugins: [ { type: metrics-data-source, parameters: { scheme: https } } ]\n",
    );
    assert.equal((await imports(file, "https://a:1")).code, 0);
    assert.match((await imports(file, "http://a:1")).err, /parameters\.scheme \(line 3\): "https", although the url of "a-1"/);
  });

  it("ends at once where many names stand for each other, and writes weights that a rewrite takes", async () => {
    const entry = (name: string, model: string, weight: number) =>
      ` - { model_name: ${name}, litellm_params: { model: openai/${model}, api_base: "http://a:1", weight: ${weight} } }\n`;
    const names = Array.from({ length: 14 }, (_, index) => `m${index}`);
    const circle = names.flatMap((name) => names.filter((each) => each !== name).map((each) => entry(name, each, 1)));
    const split = `${entry("split", "v1", 9)}${entry("split", "v2", 1)}${entry("big", "v1", 9e6)}${entry("big", "v2", 3)}`;
    const alias = "router_settings: { model_group_alias: { gpt: split } }\n";
    const { code, made = "" } = await imports(write(`model_list:\n${circle.join("")}${split}${alias}`));
    assert.equal(code, 0);
    assert.match(made, /value: gpt\n\s+targets:\n\s+- modelRewrite: v1\n\s+weight: 9\n\s+- modelRewrite: v2\n\s+weight: 1\n/);
    assert.match(made, /value: big\n\s+targets:\n\s+- modelRewrite: v1\n\s+weight: 1000\n\s+- modelRewrite: v2\n\s+weight: 1\n/);
  });
});

const BOMB = `a: &a [${"x,".repeat(9)}x]\n${"bcdefghi"
  .split("")
  .map((name, index) => `${name}: &${name} [${`*${"abcdefgh"[index]},`.repeat(9)}1]\n`)
  .join("")}model_list: *i\n`;

describe("what can't be imported", { timeout: 120_000 }, () => {
  const REFUSED: readonly { name: string; bytes: string | Uint8Array; says: RegExp; from?: string }[] = [
    { name: "an empty file", bytes: "", says: /is empty/ },
    { name: "a file of blanks", bytes: " \r\n\t\n", says: /is empty/ },
    { name: "a byte order mark alone", bytes: "\uFEFF", says: /is empty/ },
    { name: "bytes", bytes: Uint8Array.from({ length: 999 }, (_, index) => index * 7), says: /not UTF-8/ },
    { name: "control characters", bytes: "model_list:\u0001 x", says: /control characters/ },
    { name: "zero bytes", bytes: "model_list:\u0000 x", says: /a zero byte/ },
    { name: "UTF-16", bytes: Buffer.from("\uFEFFmodel_list: []", "utf16le"), says: /not UTF-8/ },
    { name: "10 MB", bytes: `model_list:\n${"  - { model_name: a }\n".repeat(480_000)}`, says: /more than 1 MiB/ },
    { name: "a bomb of aliases", bytes: BOMB, says: /aliases that expand to more than/ },
    { name: "deep nesting", bytes: `model_list: ${"[".repeat(5000)}`, says: /levels of nesting|YAML/ },
    { name: "no YAML", bytes: "model_list: [\n", says: /source-\d+:\d+:\d+ .*YAML/ },
    { name: "a key twice", bytes: "model_list: []\nmodel_list: []\n", says: /a second time/ },
    { name: "no mapping", bytes: "- 1\n", from: "litellm", says: /names no replica/ },
    { name: "a text", bytes: "hello there", says: /is nothing that is recognised/ },
    { name: "a command without switches", bytes: "hello there", from: "smg", says: /no command with switches/ },
    { name: "braces that don't match", bytes: "upstream a { server b:1;", says: /source-\d+:1: a \{ that does not end/ },
    { name: "an upstream without servers", bytes: "upstream a { }", says: /names no replica/ },
    { name: "a picker config that is a list", bytes: "- kind: EndpointPickerConfig\n", says: /no mapping|Nothing in/ },
    { name: "a picker config of nonsense", bytes: "kind: EndpointPickerConfig\napiVersion: 7\nplugins: 3\n", says: /apiVersion/ },
  ];
  for (const { name, bytes, says, from } of sampled(REFUSED))
    it(`${name} is refused by a sentence, and writes nothing`, async () => {
      const { code, out, err } = await run("import", write(bytes), ...(from === undefined ? [] : ["--from", from]));
      assert.match(err, says);
      assert.ok(code === 1 || code === 2, String(code));
      assert.equal(out, "");
      assert.doesNotMatch(err, /\n {4}at /);
    });

  const USAGE = [
    { words: [], says: /Name the config to import/ },
    { words: ["nowhere.yaml"], says: /no such file/ },
    { words: [folder], says: /a folder/ },
    { words: ["a", "b"], says: /one file is imported at a time/ },
    { words: ["a", "--from"], says: /--from|-f/ },
  ];
  for (const { words, says } of USAGE)
    it(`signalbox import ${words.join(" ").replace(folder, "FOLDER")} says what to write`, async () => {
      const { code, err } = await run("import", ...words);
      assert.match(err, says);
      assert.ok(code === 1 || code === 2);
    });
});

const configs = sharedPath("corpora/configs");
const REAL = (["llm-d", "production-stack"] as const).flatMap((name) =>
  configs === undefined ? [] : readdirSync(join(configs, name)).map((file) => join(configs, name, file)),
);

describe("real configs of other routers", { skip: configs === undefined && "no corpora of configs beside this checkout" }, () => {
  for (const file of sampled(REAL))
    it(`${file.split("/").slice(-2).join("/")} becomes a config that passes the check`, async () => {
      const replicas = file.includes("/llm-d/") ? ["http://127.0.0.1:8000"] : [];
      const { code, made, err } = await imports(file, ...replicas);
      assert.ok(made !== undefined, err);
      assert.equal(code, 0, err);
    });
});
