import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { loadConfig } from "../../config/load.ts";
import { formatProblems } from "../../config/read/problems.ts";
import type { Definition } from "../../core/contract/plugin.ts";
import { checkProperties } from "../../core/test-kit.ts";
import { builtIns } from "../../plugins/registry.ts";
import { makeAuthority } from "../support/certificates.ts";
import { defaultConfig } from "../support/default-config.ts";
import { type Block, blocksOf, DOCUMENTS, documentText } from "../support/document-blocks.ts";
import { configSections } from "../support/documents/config-page.ts";

/** Blocks that are neither configs, code nor commands, each by how it begins, and what they are. */
const TEXTS: readonly (readonly [begin: string, what: string])[] = [
  ["gpu-c: 3,968 of", "output of explain"],
  ["dry run  POST", "output of explain"],
  ["3 of 4 replicas could", "output of explain"],
  ["notes     on entries", "output of check"],
  ["llm-d-precise: 9,792", "output of simulate"],
  ["lost by ", "output of simulate"],
  ["mkdir tls secrets", "a shell's lines; tests/e2e/hardened.runtimes.test.ts starts what they set up"],
  [" line        at", "output of simulate"],
  ["replicas  TTFT mean", "output of advise"],
  ["One more replica saves", "output of advise"],
  ["sum(signalbox_scale_work_replicas", "a query for Prometheus"],
  ["SESSION     ", "output of sessions"],
  ['model = "food-review"', "settings of Codex; tests/clients/codex.clients.ts runs it with them"],
  ["ANTHROPIC_BASE_URL=", "variables of Claude Code; tests/clients/claude-code.clients.ts runs it with them"],
];

const folder = mkdtempSync(join(tmpdir(), "signalbox-documents-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const blocks = DOCUMENTS.flatMap(blocksOf);

describe("what documents show:", () => {
  it("each block is a config, code, commands, or listed here as a text", () => {
    const texts = blocks.filter(({ kind }) => kind === "text");
    const unknown = texts.filter(({ text }) => !TEXTS.some(([begin]) => text.startsWith(begin)));
    assert.deepEqual(
      unknown.map(({ place, text }) => `${place}: ${text}`),
      [],
    );
    const unused = TEXTS.filter(([begin]) => !texts.some(({ text }) => text.startsWith(begin)));
    assert.deepEqual(unused, []);
  });

  for (const block of blocks.filter(({ kind }) => kind === "yaml" || kind === "typescript"))
    it(`${block.place} can run`, async () => {
      const loaded = await loadConfig([written(block)], builtIns, ["http://127.0.0.1:9"]);
      assert.equal(loaded.problems && formatProblems(loaded.problems), undefined);
      if (block.kind !== "typescript" || loaded.problems !== undefined) return;
      const shown = loaded.config.plugins.find(({ from }) => from !== undefined);
      const definition = loaded.definitions.get(shown?.name ?? "");
      assert.ok(definition?.kind === "scorer", "a document shows another kind than a scorer: run it here");
      checkProperties(definition as Definition<"scorer">);
    });

  for (const { place, text } of blocks.filter(({ kind }) => kind === "json")) it(`${place} is JSON`, () => void JSON.parse(text));

  it("every key of the config that prose names is one", async () => {
    const keys = configSections(await defaultConfig(), builtIns).flatMap(({ title, keys }) => {
      return keys.map(({ key }) => (title === `## spec.${key}` ? title.slice(3) : `${title.slice(3)}.${key}`));
    });
    const isKey = (name: string) => keys.some((key) => `${key.replaceAll("[]", "")}.`.startsWith(`${name}.`));
    const unknown = DOCUMENTS.flatMap((document) =>
      [...documentText(document).matchAll(/`(spec\.[\w.]*\w)/g)]
        .map(([, name = ""]) => name)
        .filter((name) => !isKey(name) && !/^spec\.(rules|poolRef|hostname)/.test(name))
        .map((name) => `${document}: ${name}`),
    );
    assert.deepEqual(unknown, []);
  });
});

it("every metric that documents name is in the list of them", () => {
  const known = documentText("plugins/observers/METRICS.md");
  const unknown = DOCUMENTS.flatMap((document) =>
    [...documentText(document).matchAll(/`(signalbox_[a-z_]*[a-z])/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !known.includes(`\`${name}`))
      .map((name) => `${document}: ${name}`),
  );
  assert.deepEqual(unknown, []);
});

it("docs/policies.md has the figures of docs/measured.md", () => {
  const measured = documentText("docs/measured.md");
  const figures = [...documentText("docs/policies.md").matchAll(/\| ([\d.]+) \/ ([\d.]+) +(?=\|)/g)].flatMap(([, mean, p99]) => [
    mean,
    p99,
  ]);
  assert.ok(figures.length > 40);
  assert.deepEqual(
    figures.filter((figure) => !new RegExp(`(?<![\\d.])${figure}(?![\\d.]*\\d)`).test(measured)),
    [],
  );
});

/** Writes a config with the block in it, and what it names, into a folder of its own; returns the config's path. */
function written(block: Block): string {
  const place = mkdtempSync(join(folder, "block-"));
  const config = join(place, "signalbox.yaml");
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(place, name)), { recursive: true });
    writeFileSync(join(place, name), text);
  };
  const text = whole(block)
    // A digest that is cut short in the text, and secrets that are somewhere else.
    .replaceAll(/\b[0-9a-f]{4}…/g, DIGEST)
    .replaceAll(/(?:env|file):([\w/]+)/g, (_, name: string) => `file:secret-${name.replaceAll("/", "-")}`)
    .replaceAll(/\$\{[A-Z]+\}/g, "text");
  for (const [, name = ""] of text.matchAll(/file:(secret-[\w-]+)/g)) write(name, name);
  for (const [, name = "", kind] of text.matchAll(/([\w/]+\.(crt|key))\b/g)) write(name, kind === "crt" ? PAIR.cert : PAIR.key);
  write("keys.yaml", KEYS?.text.replaceAll(/\b[0-9a-f]{4}…/g, DIGEST) ?? "");
  // What a document shows of a plugin is in a file beside its configs.
  const [document] = block.place.split(":");
  const plugin = blocks.find(({ kind, place }) => kind === "typescript" && place.startsWith(`${document}:`));
  if (plugin !== undefined) write("plugin.ts", plugin.text);
  writeFileSync(config, `${text}\n${rewrite(text)}`);
  return config;
}

const DIGEST = createHash("sha256").update("a key").digest("hex");
const PAIR = makeAuthority("documents").issue({ names: ["localhost"] });
const KEYS = blocks.find(({ text }) => text.startsWith("# keys.yaml"));
const ROUTER = "apiVersion: signalbox/v1\nkind: Router\n";

/** The block as a Router document: some show a spec, a single plugin, or a file that a config names. */
function whole({ text, kind }: Block): string {
  if (kind === "typescript") return `${ROUTER}spec: { plugins: [{ from: ./plugin.ts }] }`;
  if (text.startsWith("# keys.yaml")) return `${ROUTER}spec: { auth: { keysFile: keys.yaml } }`;
  if (text.startsWith("- ")) return `${ROUTER}spec:\n  plugins:\n${text.replaceAll(/^/gm, "    ")}`;
  const [, pool] = /poolRef: \{[^}]*name: (\w+)/.exec(text) ?? [];
  if (pool !== undefined && !text.includes("kind: Router")) return `${ROUTER}spec: { pool: { name: ${pool} } }\n---\n${text}`;
  return /^(?:#.*\n)*spec:/.test(text) ? `${ROUTER}${text}` : text;
}

/** The rewrite that guards and mirrors are about, unless it is there. */
function rewrite(text: string): string {
  if (text.includes("InferenceModelRewrite")) return "";
  const [, pool = "default"] = /(?:^ {4}name:|inferencePool:) (\w+)/m.exec(text) ?? [];
  const targets = "[{ modelRewrite: food-review-v1, weight: 100 }, { modelRewrite: food-review-v2, weight: 0 }]";
  return `---
apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: food-review }
spec:
  poolRef: { name: ${pool} }
  rules: [{ matches: [{ model: { value: food-review } }], targets: ${targets} }]
`;
}

it("docs/glossary.md draws each state of a replica", () => {
  const union = /^export type Phase = (.*);$/m.exec(
    readFileSync(join(import.meta.dirname, "../../core/contract/endpoint.ts"), "utf8"),
  );
  const phases = [...(union?.[1] ?? "").matchAll(/"([\w-]+)"/g)].map(([, phase]) => phase);
  const arrows = [...documentText("docs/glossary.md").matchAll(/^ {2}(\S+) --> (\S+):/gm)].flatMap(([, from, to]) => [from, to]);
  const drawn = new Set(arrows.filter((state) => state !== "[*]").map((state) => state?.replace("_", "-")));
  assert.deepEqual([...drawn].sort(), [...phases].sort());
});
