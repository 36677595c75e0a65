import assert from "node:assert/strict";
import { loadTexts } from "../../../config/load.ts";
import { readDocuments } from "../../../config/read/documents.ts";
import { formatProblem, type Problem } from "../../../config/read/problems.ts";
import { builtIns } from "../../../plugins/registry.ts";
import type { Target } from "../fuzz.ts";
import { inTime } from "../in-time.ts";

const REWRITE = `apiVersion: llm-d.ai/v1alpha2
kind: InferenceModelRewrite
metadata: { name: r }
spec:
  poolRef: { name: p }
  rules:
    - matches: [ { model: { type: Exact, value: a } } ]
      targets: [ { modelRewrite: b, weight: 90 }, { modelRewrite: c, weight: 10 } ]
`;
const ROUTER = `apiVersion: signalbox/v1
kind: Router
spec:
  listen: { host: 0.0.0.0, port: 8080 }
  pool:
    name: p
    endpoints:
      - { url: http://127.0.0.1:8000, labels: { gpu: h100 } }
      - { url: "http://[::1]:8001/x", name: two }
    probes: { readiness: { periodSeconds: 1 } }
  plugins:
    - { type: prefix-cache, name: cache }
    - type: passthrough
      name: raw
      parameters: { routes: [ { method: GET, path: /version } ] }
  profiles:
    - name: default
      plugins: [ { pluginRef: cache, weight: 3 }, { pluginRef: max-score } ]
  limits: { retries: 1 }
`;

/** Config files: never an exception, never an endless read; problems stand where they are, and JSON means what it says. */
export const config: Target = {
  name: "config",
  seeds: [
    ROUTER,
    `${ROUTER}---\n${REWRITE}`,
    '{"apiVersion":"signalbox/v1","kind":"Router","spec":{"pool":{"name":"p","endpoints":[{"url":"http://a:1"}]}}}',
    "a: &x [1, *x]\nb: { <<: *x, 1: ~ }\n",
  ].map((text) => Buffer.from(text)),
  words: [
    ..."\n|  |- |: |, |{|}|[|]|\"|'|#|&a |*a|!!str |!x |? |\\|\t|---\n|...\n|>-\n|<<: |~|null|true|0x1f|1e400|.nan|-1|99999999999999999999|\0|\x7f|é|kind: Router\n|spec:\n|weight: |__proto__: |constructor: |type: |from: ./x.ts|url: |name: |http://|ftp://x".split(
      "|",
    ),
    "[".repeat(80),
    "- ".repeat(80),
    "a".repeat(300),
  ],
  async check(input) {
    const text = input.toString("utf8");
    // A plugin from a file would be loaded and run.
    if (/\bfrom\b/.test(text)) return "from";
    const loaded = await inTime(() => loadTexts([{ file: "f", text }], builtIns));
    for (const problem of loaded.problems ?? []) checkProblem(problem, text);
    checkJson(text);
    return loaded.problems === undefined ? "good" : kindOf(loaded.problems);
  },
};

function checkProblem(problem: Problem, text: string): void {
  assert.doesNotMatch(formatProblem(problem), /[\n\r]/, "a message on several lines");
  if (problem.line === 0) return;
  const lines = text.split("\n").length;
  assert.ok(problem.line <= lines && problem.column >= 1, `a place that is none: ${problem.line}:${problem.column}`);
}

/** What JSON.parse reads is read as the same values, unless a problem says why not. */
function checkJson(text: string): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return;
  }
  const problems: Problem[] = [];
  const [document, ...others] = readDocuments("f", text, problems);
  if (problems.length > 0 || value === null) return;
  assert.equal(others.length, 0);
  assert.deepEqual(document?.value, value, "JSON");
}

function kindOf(problems: readonly Problem[]): string {
  const kinds = problems.map(({ found, path }) => `${path.replace(/\d+/g, "0")} ${found.replace(/"[^"]*"|\d+/g, "")}`);
  return [...new Set(kinds)].slice(0, 3).join("|").slice(0, 200);
}
