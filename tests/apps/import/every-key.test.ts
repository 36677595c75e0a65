import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { commandsIn, type Flag } from "../../../apps/import/command-line.ts";
import { Draft } from "../../../apps/import/draft.ts";
import type { Finding } from "../../../apps/import/finding.ts";
import { PRODUCTION_STACK_FLAGS } from "../../../apps/import/production-stack.ts";
import { SHARED_FLAGS } from "../../../apps/import/router-flags.ts";
import { sourceOf } from "../../../apps/import/sources.ts";
import { configOf } from "../../../apps/import/write-config.ts";
import { builtIns } from "../../../plugins/registry.ts";

const RUNS = 60;

type Tree = Readonly<Record<string, unknown>>;

/** The config that is made of a text, without its comments, and what was said of each setting. */
async function imported(text: string, from: string) {
  const draft = new Draft();
  const source = { file: "f", text, commands: commandsIn(text), registry: builtIns };
  await sourceOf(from, source).read(source, draft);
  const config = configOf(draft, from)
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .map((line) => line.replace(/ # from .*$/, ""))
    .join("\n");
  return { config, findings: draft.findings };
}

/** Paths of the values in a document that say something, as findings write them. */
function leaves(value: unknown, path = ""): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => leaves(item, `${path}[${index}]`));
  if (value === null || value === "") return [];
  if (typeof value !== "object") return [path];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, path === "" ? key : `${path}.${key}`));
}

/** The document without the value at a path. */
function without(value: unknown, gone: string, path = ""): unknown {
  if (Array.isArray(value)) return value.map((item, index) => without(item, gone, `${path}[${index}]`));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [path === "" ? key : `${path}.${key}`, key, inner] as const);
  return Object.fromEntries(
    entries.filter(([at]) => at !== gone).map(([at, key, inner]) => [key, without(inner, gone, at)] as const),
  );
}

/** What is said of a whole entry is said of its keys too, unless it became a replica: then all but its names and address count by themselves. */
const saysAll = ({ setting, effect }: Finding) =>
  effect !== "taken over" && !(effect === "changed" && /^model_list\[\d+\]$/.test(setting));

/** A key that no finding names must change the config. */
async function holds(document: Tree, from: string): Promise<void> {
  const { config, findings } = await imported(JSON.stringify(document), from);
  for (const leaf of leaves(document)) {
    // Its words are switches, which have a property of their own.
    if (leaf.startsWith("routerSpec.extraArgs[")) continue;
    const isTold = findings.some(
      (finding) =>
        finding.setting === leaf.replace(/\.(model_name|litellm_params\.(model|api_base))$/, "") ||
        (saysAll(finding) && leaf.startsWith(finding.setting) && /[.[]/.test(leaf.charAt(finding.setting.length))),
    );
    if (isTold) continue;
    const other = await imported(JSON.stringify(without(document, leaf)), from);
    assert.notEqual(other.config, config, `${leaf} is lost`);
  }
}

const someOf = (all: Readonly<Record<string, fc.Arbitrary<unknown>>>) => fc.record(all, { requiredKeys: [] });
const odd = fc.constantFrom<unknown>(1, 3, true, "text", "", null, [], ["a"], { a: 1 });
const number = fc.oneof(fc.integer({ min: 1, max: 9 }), odd);
/** Keys that nobody knows, beside those that somebody does. */
const unknown = fc.dictionary(fc.stringMatching(/^[a-z_]{1,6}$/), odd, { maxKeys: 2 });
const withUnknown = (known: fc.Arbitrary<Tree>) => fc.tuple(unknown, known).map(([more, keys]): Tree => ({ ...more, ...keys }));

const MODELS = ["vllm/m", "hosted_vllm/n", "openai/n", "azure/x", "m", "vllm/*"];
const params = fc
  .tuple(
    fc.record({
      model: fc.constantFrom(...MODELS),
      api_base: fc.constantFrom("http://a:1/v1", "http://b:1", "nope:x", "os.environ/NONE"),
    }),
    withUnknown(
      someOf({
        weight: number,
        rpm: number,
        order: number,
        tags: odd,
        timeout: number,
        api_key: fc.constantFrom("none", "sk-1", "os.environ/PATH", "os.environ/NONE"),
        base_url: fc.constantFrom("http://c:1", "http://d:1"),
        custom_llm_provider: fc.constantFrom("vllm", "azure"),
      }),
    ),
  )
  .map(([own, more]) => ({ ...more, ...own }));
const entry = fc
  .tuple(
    fc.record({ model_name: fc.constantFrom("m", "n", "o", "p*"), litellm_params: params }),
    someOf({ model_info: odd, other: odd }),
  )
  .map(([own, more]) => ({ ...own, ...more }));
const name = fc.constantFrom("m", "n", "q");
const litellm = withUnknown(
  someOf({
    model_list: fc.array(entry, { minLength: 1, maxLength: 4 }),
    router_settings: withUnknown(
      someOf({
        ...{ num_retries: number, max_retries: number, timeout: number, stream_timeout: number, cooldown_time: number },
        ...{ allowed_fails: number, fallbacks: odd, redis_host: odd, weights: odd },
        routing_strategy: fc.constantFrom("simple-shuffle", "least-busy", "latency-based-routing", "other"),
        model_group_alias: fc.dictionary(
          fc.constantFrom("q", "r"),
          fc.oneof(name, fc.record({ model: name, hidden: fc.boolean() }), odd),
        ),
      }),
    ),
    litellm_settings: withUnknown(someOf({ num_retries: number, request_timeout: number, callbacks: odd, drop_params: odd })),
    general_settings: withUnknown(someOf({ master_key: odd, max_request_size_mb: number, database_url: odd })),
    environment_variables: odd,
  }),
);

const urls = fc.constantFrom("http://a:1", "http://a:1,http://b:2", "http://a:1,nope:x", "");
const values = withUnknown(
  someOf({
    servingEngineSpec: withUnknown(
      someOf({
        labels: fc.oneof(fc.dictionary(fc.constantFrom("team", "release"), fc.oneof(fc.constantFrom("x", "y"), odd)), odd),
        ...{
          containerPort: number,
          vllmApiKey: odd,
          modelSpec: fc.array(withUnknown(someOf({ name: odd, replicaCount: number }))),
        },
      }),
    ),
    routerSpec: withUnknown(
      someOf({
        serviceDiscovery: fc.constantFrom("k8s", "static", "other"),
        staticBackends: urls,
        routingLogic: fc.constantFrom("roundrobin", "session", "prefixaware", "other"),
        ...{ containerPort: number, resources: odd, sessionKey: odd },
        extraArgs: fc.array(fc.constantFrom<unknown>("--host", "h", "--port", "7", "--what", "-x", 3, { a: 1 }), {
          minLength: 1,
        }),
      }),
    ),
  }),
);

describe("each key of a generated file is taken over, changed or named:", () => {
  const FILES = { litellm, "production-stack-values": values };
  for (const [from, files] of Object.entries(FILES))
    it(from, { timeout: 120_000 }, () =>
      fc.assert(
        fc.asyncProperty(files, (document) => holds(document, from)),
        { numRuns: RUNS },
      ),
    );
});

/** Words that some switch takes, and some that none does. */
const word = fc.constantFrom(
  "http://a:1",
  "http://b:2",
  "h",
  "7",
  "8",
  "app=vllm",
  "session",
  "random",
  "round_robin",
  "a=b",
  "a:b",
  "x",
);
const commandOf = (table: Readonly<Record<string, Flag>>) =>
  fc.array(
    fc.constantFrom(...Object.keys(table)).chain((flag) => fc.array(word, { maxLength: 2 }).map((words) => [flag, ...words])),
    { minLength: 1, maxLength: 12 },
  );

describe("a switch that is said to be taken over is in the config:", () => {
  const TABLES = { smg: SHARED_FLAGS, "production-stack": PRODUCTION_STACK_FLAGS };
  for (const [from, table] of Object.entries(TABLES))
    it(from, { timeout: 120_000 }, () =>
      fc.assert(
        fc.asyncProperty(commandOf(table), async (switches) => {
          const text = (all: readonly (readonly string[])[]) => [from, ...all.flat()].join(" ");
          const { findings } = await imported(text(switches), from);
          for (const [flag] of switches)
            assert.ok(
              findings.some(({ setting }) => setting === flag),
              `${flag} is lost`,
            );
          const taken = findings.filter(({ effect, why }) => effect === "taken over" && /^spec\.(?!pool\.endpoints)/.test(why));
          const { config } = await imported(`${text(switches)} --host nobody-has-this`, from);
          for (const { setting } of taken.filter((each) => each.setting !== "--host")) {
            const others = switches.filter(([flag]) => flag !== setting);
            const other = await imported(`${text(others)} --host nobody-has-this`, from);
            assert.notEqual(other.config, config, `${setting} is not in the config`);
          }
        }),
        { numRuns: RUNS },
      ),
    );
});
