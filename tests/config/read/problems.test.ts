import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defaultParsers } from "../../../config/plugins/instances.ts";
import { formatProblems, type Problem } from "../../../config/read/problems.ts";
import { POOL, problemsOf, registry, router } from "../support.ts";

import { problemTests } from "./problems-table.ts";

const SERVED = defaultParsers(registry)
  .map((type) => `/v1/${type}`)
  .join(", ");

describe("documents", () => {
  problemTests([
    [
      "nothing",
      "",
      ["a.yaml  found no document of kind Router; wanted one with spec.pool.endpoints, or endpoint URLs on the command line."],
    ],
    ["a list", "- 1\n", ["1:1  found a list; wanted a mapping with apiVersion, kind and spec."]],
    ["a word", "\nhello\n", ["2:1  found text; wanted a mapping with apiVersion, kind and spec."]],
    [
      "no kind",
      "apiVersion: signalbox/v1\nspec: {}\n",
      [
        '1:1  kind  found no "kind"; wanted Router or Pool or InferenceModelRewrite or InferenceObjective or EndpointPickerConfig. A router\'s config begins with "apiVersion: signalbox/v1" and "kind: Router"; pool, listen and the others are below "spec:".',
      ],
    ],
    [
      "a mistyped kind",
      "apiVersion: signalbox/v1\nkind: Ruoter\n",
      [
        '2:7  kind  found "Ruoter"; wanted Router or Pool or InferenceModelRewrite or InferenceObjective or EndpointPickerConfig. Did you mean "Router"?',
      ],
    ],
    [
      "another kind",
      "apiVersion: v1\nkind: Pod\n",
      ['2:7  kind  found "Pod"; wanted Router or Pool or InferenceModelRewrite or InferenceObjective or EndpointPickerConfig.'],
    ],
    [
      "another version",
      "apiVersion: signalbox/v2\nkind: Router\nspec: {}\n",
      [
        '1:13  apiVersion  found "signalbox/v2"; wanted signalbox/v1 or signalbox.dev/v1. Did you mean "signalbox/v1"?',
        "3:7  spec.pool.endpoints  found no endpoints; wanted at least one, such as { url: http://gpu1:8000 }.",
      ],
    ],
    [
      "no version",
      "kind: Router\nspec: {}\n",
      [
        '1:1  apiVersion  found no "apiVersion"; wanted signalbox/v1 or signalbox.dev/v1.',
        "2:7  spec.pool.endpoints  found no endpoints; wanted at least one, such as { url: http://gpu1:8000 }.",
      ],
    ],
    [
      "the version of something else",
      "apiVersion: networking/v1\nkind: Router\nspec: { hosts: [] }\n",
      ['1:13  apiVersion  found "networking/v1"; wanted signalbox/v1 or signalbox.dev/v1.'],
    ],
    ["no spec", "apiVersion: signalbox/v1\nkind: Router\n", ['1:1  spec  found no "spec"; wanted a mapping.']],
    [
      "a key beside spec",
      `${router(POOL)}specs: {}\n`,
      [
        '5:1  specs  found the unknown key "specs"; wanted one of: $schema, apiVersion, kind, metadata, spec. Did you mean "spec"?',
      ],
    ],
    [
      "a second Router",
      `${router(POOL)}---\n${router(POOL)}`,
      ["7:7  kind  found a second Router document (the first is in a.yaml); wanted one in all files together."],
    ],
  ]);

  test("each file's problems, in the order the files were given", async () => {
    assert.deepEqual(await problemsOf({ "z.yaml": router("  pol: {}\n"), "a.json": '{"kind": "Router"}', "b.yaml": "a: [\n" }), [
      'z.yaml:4:3  spec.pol  found the unknown key "pol"; wanted one of: listen, admin, pool, plugins, profiles, conversations, auth, stored, scale, keepAlive, sessions, admission, quarantine, shadow, mirrors, disaggregation, ejection, kubernetes, guards, kvEvents, shared, fallback, websockets, retries, forwardedFor, limits, responseHeaders. Did you mean "pool"?',
      "z.yaml:4:3  spec.pool.endpoints  found no endpoints; wanted at least one, such as { url: http://gpu1:8000 }.",
      'a.json:1:1  apiVersion  found no "apiVersion"; wanted signalbox/v1 or signalbox.dev/v1.',
      "a.json:1:10  kind  found a second Router document (the first is in z.yaml); wanted one in all files together.",
      "b.yaml:2:1  found invalid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]. The [ begins in line 1.",
    ]);
  });
});

describe("the cause comes first", () => {
  const firstOf = async (texts: Readonly<Record<string, string>>) => (await problemsOf(texts))[0]?.split("; ")[0];
  const cases: readonly (readonly [name: string, texts: Readonly<Record<string, string>>, first: string])[] = [
    [
      "a misspelled list, before what is missing because of it",
      { "a.yaml": router("  pool:\n    name: llama\n    endpionts: [ { url: http://gpu1:8000 } ]\n") },
      'a.yaml:6:5  spec.pool.endpionts  found the unknown key "endpionts"',
    ],
    [
      "one below, before a name above that is none because of it",
      {
        "a.yaml": router(
          `${POOL}  profiles: [ { plugins: [ { pluginRef: mine } ] } ]\n  plugns: [ { type: queue, name: mine } ]\n`,
        ),
      },
      'a.yaml:6:3  spec.plugns  found the unknown key "plugns"',
    ],
    [
      "one in a later file",
      {
        "a.yaml":
          "apiVersion: llm-d.ai/v1alpha2\nkind: InferenceModelRewrite\nmetadata: { name: x }\nspec: { poolRef: { name: llama }, rules: [] }\n",
        "b.yaml": router("  pool: { nam: llama, endpoints: [ { url: http://gpu1:8000 } ] }\n"),
      },
      'b.yaml:4:11  spec.pool.nam  found the unknown key "nam"',
    ],
    ["a misspelled kind", { "a.yaml": router(POOL).replace("kind:", "knd:") }, 'a.yaml:2:1  knd  found the unknown key "knd"'],
  ];
  for (const [name, texts, first] of cases) test(name, async () => assert.equal(await firstOf(texts), first));
});

describe("values of the wrong shape", () => {
  problemTests([
    [
      "text for a number",
      router(`${POOL}  listen: { port: eighty }\n`),
      ['5:19  spec.listen.port  found "eighty"; wanted a whole number from 0 to 65535.'],
    ],
    [
      "a number in quotes",
      router(`${POOL}  listen: { port: "80" }\n`),
      ['5:19  spec.listen.port  found "80"; wanted a whole number from 0 to 65535. Remove the quotes.'],
    ],
    [
      "a number that begins with 0, and the other problems of its document",
      router(`${POOL}  listen: { port: 08080, prt: 1 }\n`),
      [
        '5:26  spec.listen.prt  found the unknown key "prt"; wanted one of: host, port, reusePort, tls, cors. Did you mean "port"?',
        "5:19  found a number that begins with 0, which YAML 1.1 reads as octal and YAML 1.2 as decimal; wanted the number without that 0, or 0o and its digits if it is octal, or quotes around a text.",
      ],
    ],
    ...[
      ["8_080", " Write it without _."],
      ["1:30", " Write it in decimal."],
      ["0b11", " Write it in decimal."],
      ['"08"', " Write it without the leading zero."],
      ["1.2.3", ""],
    ].map(
      ([text = "", hint]) =>
        [
          `${text}, which other readers of YAML may take for a number`,
          router(`${POOL}  listen: { port: ${text} }\n`),
          [`5:19  spec.listen.port  found "${text.replaceAll('"', "")}"; wanted a whole number from 0 to 65535.${hint}`],
        ] as const,
    ),
    ...["yes", "Off", "N"].map(
      (text) =>
        [
          `${text}, which YAML 1.1 takes for a boolean`,
          router(`${POOL}  retries: { stale: ${text} }\n`),
          [`5:21  spec.retries.stale  found "${text}"; wanted true or false.`],
        ] as const,
    ),
    [
      "a number out of bounds",
      router(`${POOL}  listen: { port: 65536 }\n`),
      ["5:19  spec.listen.port  found 65536; wanted a whole number from 0 to 65535."],
    ],
    [
      "infinity",
      router(`${POOL}  limits: { headBytes: .inf }\n`),
      ["5:24  spec.limits.headBytes  found Infinity; wanted a whole number from 1024 to 1048576 or a size such as 32MiB."],
    ],
    [
      "a number for text",
      router("  pool: { endpoints: [{ url: http://a, labels: { n: 8 } }] }\n"),
      ["4:53  spec.pool.endpoints[0].labels.n  found 8; wanted text. Put it in quotes."],
    ],
    [
      "a mapping for a list",
      router("  pool: { endpoints: { url: http://a } }\n"),
      ["4:22  spec.pool.endpoints  found a mapping; wanted a list."],
    ],
    [
      "a text for a mapping",
      router("  pool: { endpoints: [ gpu1:8000 ] }\n"),
      [
        '4:24  spec.pool.endpoints[0]  found "gpu1:8000"; wanted a mapping. Write { KEY: VALUE } with keys of: url, ports, name, labels, auth, tls.',
      ],
    ],
    ["a list for a mapping", router("  pool: [http://a]\n"), ["4:9  spec.pool  found a list; wanted a mapping."]],
    ["nothing for a mapping", router(`${POOL}  limits:\n`), ["5:10  spec.limits  found nothing; wanted a mapping."]],
    [
      "text for true or false",
      router(`${POOL}  responseHeaders: no\n`),
      ['5:20  spec.responseHeaders  found "no"; wanted true or false.'],
    ],
    ["neither branch of a union", router(`${POOL}  admin: true\n`), ["5:10  spec.admin  found true; wanted false or a mapping."]],
    [
      "one branch of a union",
      router(`${POOL}  admin: { prot: 1 }\n`),
      [
        '5:12  spec.admin.prot  found the unknown key "prot"; wanted one of: host, port, reusePort, tls, hosts, token, tokens, readOnly. Did you mean "port"?',
      ],
    ],
    [
      "a missing key",
      router("  pool: { endpoints: [{ name: a }] }\n"),
      ['4:23  spec.pool.endpoints[0].url  found no "url"; wanted text.'],
    ],
    [
      "an unknown way with addresses",
      router(`${POOL}  forwardedFor: apend\n`),
      ['5:17  spec.forwardedFor  found "apend"; wanted "append" or "replace" or "drop". Did you mean "append"?'],
    ],
    [
      "keep-alive events without paths",
      router(`${POOL}  keepAlive: { periodSeconds: 0 }\n`),
      [
        '5:14  spec.keepAlive.paths  found no "paths"; wanted a list.',
        "5:31  spec.keepAlive.periodSeconds  found 0; wanted a number of seconds above 0, at most 2147483.",
      ],
    ],
    [
      "keep-alive events nowhere",
      router(`${POOL}  keepAlive: { paths: [] }\n`),
      ["5:23  spec.keepAlive.paths  found an empty list; wanted at least one path."],
    ],
    [
      "keep-alive events on paths that no parser serves",
      router(`${POOL}  keepAlive: { paths: [/v1/messages, /v1/mesages, /health] }\n`),
      [
        `5:38  spec.keepAlive.paths[1]  found "/v1/mesages", which no parser serves; wanted one of: ${SERVED}. Did you mean "/v1/messages"?`,
        `5:51  spec.keepAlive.paths[2]  found "/health", which no parser serves; wanted one of: ${SERVED}.`,
      ],
    ],
    [
      "keep-alive events, and a parser that can't be made",
      router(
        `${POOL}  keepAlive: { paths: [/v1/messages] }\n  plugins:\n    - { type: messages, parameters: { isBroken: true } }\n`,
      ),
      ["7:7  spec.plugins[0]  found a parser that can't be made. isBroken is set"],
    ],
    [
      "a label's odd name",
      router('  pool: { endpoints: [{ url: http://a, labels: { "a.b/c": 8 } }] }\n'),
      ['4:59  spec.pool.endpoints[0].labels["a.b/c"]  found 8; wanted text. Put it in quotes.'],
    ],
    [
      "a host with a port",
      router(`${POOL}  listen: { host: "localhost:8080" }\n`),
      ['5:19  spec.listen.host  found "localhost:8080"; wanted a host name or IP address, without scheme, port or brackets.'],
    ],
    [
      "a probe's path",
      router("  pool: { endpoints: [{ url: http://a }], probes: { liveness: { path: health } } }\n"),
      ['4:71  spec.pool.probes.liveness.path  found "health"; wanted a path that starts with "/".'],
    ],
    [
      "a probe's period of 0",
      router("  pool: { endpoints: [{ url: http://a }], probes: { liveness: { periodSeconds: 0 } } }\n"),
      ["4:80  spec.pool.probes.liveness.periodSeconds  found 0; wanted a number of seconds above 0, at most 2147483."],
    ],
    [
      "one port for two listeners",
      router(`${POOL}  listen: { host: 0.0.0.0, port: 9090 }\n`),
      ["4:3  spec.admin.port  found port 9090 for admin as well as for listen; wanted a port of its own, or admin: false."],
    ],
  ]);

  test("a problem in one section does not hide those in others", async () => {
    const text = router(`  listen: { port: x }
  pool: { nam: llama, endpoints: [{ url: gpu1 }] }
  plugins: [{ type: quue }]
  profiles: [{ plugins: [{ pluginRef: nope }] }]
  limits: { retries: -1 }
`);
    assert.deepEqual(
      (await problemsOf(text)).map((line) => line.split("  ").slice(0, 2).join(" ")),
      [
        "5:11 spec.pool.nam",
        "4:19 spec.listen.port",
        "5:42 spec.pool.endpoints[0].url",
        "6:21 spec.plugins[0].type",
        "7:39 spec.profiles[0].plugins[0].pluginRef",
        "8:22 spec.limits.retries",
      ],
    );
  });
});

describe("formatProblems", () => {
  const problem: Problem = { file: "f", line: 1, column: 2, path: "a", found: "b", wanted: "c", hint: "D." };
  test("counts the problems", () => {
    assert.equal(formatProblems([problem]), "f:1:2  a  found b; wanted c. D.\n1 problem");
    assert.equal(
      formatProblems([problem, { ...problem, line: 0, wanted: "", hint: "" }]),
      "f:1:2  a  found b; wanted c. D.\nf  a  found b.\n2 problems",
    );
  });

  test("shows the first fifty", () => {
    const lines = formatProblems(Array<Problem>(1000).fill(problem)).split("\n");
    assert.equal(lines.length, 52);
    assert.deepEqual(lines.slice(-2), ["… and 950 more", "1000 problems"]);
  });
});

describe("shape and meaning", () => {
  const rewrite = (spec: string) =>
    `---\napiVersion: llm-d.ai/v1alpha2\nkind: InferenceModelRewrite\nmetadata: { name: food }\nspec:\n${spec}`;
  const pool = "  poolRef: { name: llama }\n";
  /** Each text has a problem of shape and one of meaning; all are found in one pass, at their places. */
  const cases: readonly (readonly [name: string, text: string, places: readonly string[]])[] = [
    [
      "an entry of plugins, and a reference to another one",
      router(
        `${POOL}  plugins: [{ type: queue, name: 5 }, { type: prefix-cache, name: cache }]\n  profiles: [{ plugins: [{ pluginRef: cache, weight: x }, { pluginRef: cache }, { pluginRef: queue }] }]\n`,
      ),
      ["5:34 spec.plugins[0].name", "6:54 spec.profiles[0].plugins[0].weight", "6:72 spec.profiles[0].plugins[1].pluginRef"],
    ],
    [
      "an entry with a readable name, and a reference to nothing",
      router(`${POOL}  plugins: [{ type: 5, name: q }]\n  profiles: [{ plugins: [{ pluginRef: q }, { pluginRef: queu }] }]\n`),
      ["5:21 spec.plugins[0].type", "6:57 spec.profiles[0].plugins[1].pluginRef"],
    ],
    [
      "probes, a label, and the same replica twice behind a broken one",
      router(
        "  pool:\n    probes: { startup: { path: 5 } }\n    endpoints: [{ url: 5 }, { url: http://a, labels: { x: 1 } }, { url: http://b }, { url: http://b }]\n",
      ),
      [
        "5:32 spec.pool.probes.startup.path",
        "6:24 spec.pool.endpoints[0].url",
        "6:59 spec.pool.endpoints[1].labels.x",
        "6:92 spec.pool.endpoints[3].url",
      ],
    ],
    [
      "a version, and a reference to nothing",
      `apiVersion: signalbox/v2\nkind: Router\nspec:\n${POOL}  profiles: [{ plugins: [{ pluginRef: nothing }] }]\n`,
      ["1:13 apiVersion", "5:39 spec.profiles[0].plugins[0].pluginRef"],
    ],
    [
      "a weight, and mixed weights of another rule",
      router(POOL) +
        rewrite(
          `${pool}  rules:\n    - { targets: [{ modelRewrite: a, weight: -1 }, { modelRewrite: b }] }\n    - { targets: [{ modelRewrite: a, weight: 1 }, { modelRewrite: b }] }\n`,
        ),
      ["12:46 spec.rules[0].targets[0].weight", "13:51 spec.rules[1].targets[1]"],
    ],
    [
      "a name and a pool, and weights of 0",
      router(POOL) +
        rewrite("  poolRef: { name: 5 }\n  rules: [{ targets: [{ modelRewrite: a, weight: 0 }] }]\n").replace(
          "name: food",
          "name: 5",
        ),
      ["8:19 metadata.name", "10:20 spec.poolRef.name", "11:22 spec.rules[0].targets"],
    ],
    [
      "a broken match is not a rule for every model",
      router(POOL) +
        rewrite(
          `${pool}  rules: [{ matches: [{ model: { value: 5 } }], targets: [{ modelRewrite: a }] }, { targets: [{ modelRewrite: b }] }]\n`,
        ),
      ["11:41 spec.rules[0].matches[0].model.value"],
    ],
  ];
  for (const [name, text, places] of cases) {
    test(name, async () => {
      const lines = await problemsOf(text);
      assert.deepEqual(
        lines.map((line) => line.split("  ").slice(0, 2).join(" ")),
        places,
      );
    });
  }

  test("a long list with many broken items", async () => {
    const items = Array.from({ length: 4_000 }, (_, index) =>
      index % 2 === 0 ? "1" : "{ targets: [{ modelRewrite: a }] }",
    ).join(", ");
    const lines = await problemsOf(router(POOL) + rewrite(`${pool}  rules: [${items}]\n`));
    assert.equal(lines.length, 2_000);
  });
});
