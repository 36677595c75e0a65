import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readJsonBody } from "../../core/body/json-body.ts";
import type { EndpointRecord } from "../../core/contract/detector.ts";
import type { Need } from "../../core/contract/need.ts";
import type { SharedFacts } from "../../core/contract/slots/shared.ts";
import type { Tap } from "../../core/contract/slots/tap.ts";
import * as kit from "../../core/contract/test-kit.ts";
import { makeDecision, makeOutcome } from "../../core/test-kit/records.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { makeView } from "../support/view.ts";

/**
 * Runs each example in the comments of core/contract/. An example is a piece of a plugin ("create: …", "score: …"), the whole of one
 * ("export default …"), or statements; in its scope is what all contract files export, and what a plugin would be given.
 */
const FOLDER = join(import.meta.dirname ?? ".", "../../core/contract");

const endpoints = kit.makeEndpoints(2);
const [endpoint] = endpoints;
const load = kit.makeLoad(2);
const request = kit.makeRequest({ model: "fast", headers: kit.makeHeaders({ "x-tier": "gold" }) });
const waiting = kit.makeWaiting();
const outcome = makeOutcome();
const decision = makeDecision();
const view = makeView(endpoints);
const body = readJsonBody(
  Buffer.from('{"model":"fast","stream":true,"prompt":"Hi"}'),
  { keys: ["model", "stream", "prompt"] },
  8,
);
const failing = { consecutiveFailures: 5, lastFailure: "reset" } as EndpointRecord;
const random = kit.seededRandom(1);
const asked = { head: request.headers, parsed: { ...request, model: "fast", promptTokens: 7 } };

/** Calls each method that an example may have; the result says whether it did what its contract asks. */
const CALLS: Readonly<Record<string, (call: (...given: unknown[]) => unknown, said: readonly string[]) => boolean>> = {
  authenticate: (authenticate) => (authenticate("guest") as { name: string }).name === "guest",
  parse: (parse) => (parse(body, "/v1/rerank") as { model: string }).model === "fast",
  draw: (draw) => (draw(request) as { target: string }).target === "llama-8b",
  filter: (filter) => (filter(request, endpoints, load, random) as readonly unknown[]).length === 0,
  refuse: (refuse) => (refuse(request, endpoints) as { status: number }).status === 503,
  score: (score) => (score(request, endpoints, load) as readonly number[]).every((one) => one >= 0 && one <= 1),
  pick: (pick) => (pick(endpoints, [0.1, 0.9], random) as readonly unknown[])[0] === endpoints[1],
  join: (join) => join(waiting) === undefined,
  take: (take) => take(kit.makeRoom()) === waiting,
  least: (least) => least(waiting) === waiting,
  responseHeader: (header) => String(header(request, endpoint)) === "x-replica,e0",
  detect: (detect) => /^5 failures in a row/.test(String(detect(failing, []))),
  read: (read) => (read('[{"is_processing":true}]') as { running: number }).running === 1,
  start: (start) => start((found: readonly unknown[]) => found.length === 2) === true,
  upgrade: (upgrade) => upgrade({ head: kit.makeHeaders({ upgrade: "plain" }) }, asked) === asked,
  enter: (enter) => enter(asked) === undefined,
  decode: (decode) => decode({ head: kit.makeHeaders({ "content-encoding": "plain" }) }, asked) === asked,
  admit: (admit) => admit(asked) === undefined,
  answer: (answer) => (answer(asked) as { status: number }).status === 200,
  plan: (plan) => plan({ profile: {}, decide: () => decision }) === decision,
  send: (send) => send(asked, {}) === undefined,
  compare: (compare) => compare(asked, { profile: {}, random, decide: () => decision }) === decision,
  copy(copy) {
    const chosen: string[] = [];
    copy(asked, request, ({ target }: { target: string }) => void chosen.push(target));
    return chosen[0] === "fast-v2";
  },
  tap(tap, said) {
    const { read, end } = tap(asked, { status: 200 }) as Tap;
    read(Buffer.from("abcd"), [0, 1, 2, 4], 2);
    end(true);
    return said[0] === "200 true 3";
  },
  inflate: (inflate) => inflate(asked, request.headers, "document") === undefined,
  lines: (lines) => lines(asked) === "x-prompt-tokens: 7\r\n",
  fallBack: (fallBack) => fallBack(asked, new Error("full")) === false,
  shared(given) {
    const shared = given as unknown as SharedFacts;
    const facts = [...shared.say()];
    for (const fact of facts) shared.hear(fact, { router: "another", isOwn: false });
    return facts.length === 1;
  },
  lost(lost) {
    lost({ ticket: outcome }, endpoint, 0);
    return true;
  },
  settled: (settled) => settled(outcome) === undefined,
  status: (status) => Object.keys(status(undefined) as object).length === 1,
  needs(needs) {
    const [need] = needs({ label: "gpu" }) as readonly Need[];
    return need!.labelled!({ gpu: "h100" }) && !need!.labelled!({}) && need!.lack.startsWith("no replica");
  },
  finished: (finished, said) => finished(outcome) === undefined && said.length === 1,
};

function run(code: string): void {
  const said: string[] = [];
  const print = (line: string) => void said.push(line);
  const host = kit.makeHost({ clock: new FakeClock(), output: { print, isTerminal: false } });
  const definition = scope["defineScorer"]({
    type: "t",
    summary: "",
    options: scope["z"].object({}),
    create: () => ({ score: () => [] }),
  });
  const trace = { traceId: "1".repeat(32), spanId: "2".repeat(16), parentId: "", state: "" };
  const defaults = { isStream: false, promptSpans: [], promptTokens: 0 };
  const leg = decision.legs[0];
  const given = {
    ...{ host, definition, trace, defaults, leg, returned: [] },
    ...{ outcome, decision, view, body, endpoint, request },
  };
  const names = { ...scope, ...given, candidates: endpoints, load };
  const isPiece = /^\w+: /.test(code);
  const wrapped = isPiece ? `return { ${code} };` : `{ ${code.replace("export default", "return")}\n}`;
  // Plugin authors write TypeScript; what examples have of it is taken out.
  const script = wrapped.replace(/(?<=[\])])!/g, "").replace(/<[\w, ]+>(?=\()/g, "");
  const made = new Function(...Object.keys(names), script)(...Object.values(names));
  const plugin = made?.create === undefined ? made : made.create({ urls: ["a", "b"], most: 3 }, host);
  for (const [name, isRight] of Object.entries(CALLS))
    if (plugin?.[name]) assert.ok(isRight(plugin[name], said), `${name}: ${code}`);
  for (const page of plugin?.pages ?? []) assert.match(page.render(view, new URLSearchParams()), /^e0 0$/m);
  if (isPiece)
    assert.ok("pages" in made || Object.keys(CALLS).some((name) => name in plugin), `nothing of it was called: ${code}`);
}

const files = readdirSync(FOLDER, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
// biome-ignore lint/suspicious/noExplicitAny: Examples name whatever the contract files export.
const scope: Record<string, any> = Object.assign({}, ...(await Promise.all(files.map((name) => import(join(FOLDER, name))))));

describe("the examples of each contract file run:", () => {
  for (const file of files) {
    const text = readFileSync(join(FOLDER, file), "utf8");
    const examples = [...text.matchAll(/^ \* @example\n((?: \*(?: .*)?\n)+?) \*\/$/gm)].map(([, lines = ""]) =>
      lines.replace(/^ \* ?/gm, "").trim(),
    );
    it(file, () => {
      assert.ok(examples.length > 0, "there is none");
      for (const example of examples) run(example);
    });
  }
});
