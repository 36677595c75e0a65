import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { didYouMean } from "../../../config/read/problems.ts";
import { POOL, problemsOf, router } from "../support.ts";

import { type ProblemCase, problemTests } from "./problems-table.ts";

describe("endpoints", () => {
  const pool = (...endpoints: readonly string[]) =>
    router(`  pool:\n    endpoints:\n${endpoints.map((one) => `      - { ${one} }\n`).join("")}`);
  const NOT_HTTP = "An endpoint URL starts with http:// or https://, like http://gpu1:8000.";
  problemTests([
    [
      "none",
      router("  pool: {}\n"),
      ["4:9  spec.pool.endpoints  found no endpoints; wanted at least one, such as { url: http://gpu1:8000 }."],
    ],
    [
      "an empty list",
      router("  pool: { endpoints: [] }\n"),
      ["4:22  spec.pool.endpoints  found no endpoints; wanted at least one, such as { url: http://gpu1:8000 }."],
    ],
    [
      "another scheme",
      pool("url: ftp://gpu1"),
      [`6:16  spec.pool.endpoints[0].url  found a URL that can't be used. ${NOT_HTTP}`],
    ],
    ...(["htp://gpu1:8000", "http:/gpu1:8000", "HTTTP://gpu1:8000"] as const).map(
      (url): ProblemCase => [
        `a mistyped scheme, ${url}`,
        pool(`url: "${url}"`),
        [`6:16  spec.pool.endpoints[0].url  found a URL that can't be used. ${NOT_HTTP} Did you mean "http://gpu1:8000"?`],
      ],
    ),
    [
      "no scheme",
      pool("url: gpu1:8000"),
      [`6:16  spec.pool.endpoints[0].url  found a URL that can't be used. ${NOT_HTTP} Did you mean "http://gpu1:8000"?`],
    ],
    [
      "credentials, which are not repeated",
      pool("url: http://me:secret@gpu1"),
      [
        "6:16  spec.pool.endpoints[0].url  found a URL that can't be used. An endpoint URL can't hold a user name or password: leave out everything up to the @.",
      ],
    ],
    [
      "the same address in two spellings",
      pool("url: http://gpu1:80", "url: http://GPU1/, name: x"),
      ['7:16  spec.pool.endpoints[1].url  found the endpoint "http://gpu1" a second time; wanted each once.'],
    ],
    [
      "the same name",
      pool("url: http://a, name: x", "url: http://b, name: x"),
      [
        '7:32  spec.pool.endpoints[1].name  found the name "x", which http://a has already; wanted a name of its own for each endpoint.',
      ],
    ],
    [
      "a name made up twice",
      pool("url: http://a/x-y", "url: http://a/x/y"),
      [
        '7:9  spec.pool.endpoints[1].name  found the name "a-80-x-y", which http://a/x-y has already; wanted a name of its own for each endpoint.',
      ],
    ],
    [
      "a name that no header could carry",
      pool("url: http://a, name: é"),
      [
        '6:32  spec.pool.endpoints[0].name  found "é"; wanted a name of letters, digits, ".", "_" and "-", at most 128, with a letter or digit first.',
      ],
    ],
  ]);

  test("from the command line", async () => {
    assert.deepEqual(await problemsOf("", ["http://a", "b:1"]), [
      `URL 2  found a URL that can't be used. ${NOT_HTTP} Did you mean "http://b:1"?`,
    ]);
  });
});

describe("plugins", () => {
  const plugins = (...entries: readonly string[]) =>
    router(`${POOL}  plugins:\n${entries.map((one) => `    - { ${one} }\n`).join("")}`);
  problemTests([
    [
      "a mistyped type",
      plugins("type: prefix-cahce"),
      [
        '6:15  spec.plugins[0].type  found the unknown plugin type "prefix-cahce"; wanted a built-in type. Did you mean "prefix-cache"?',
      ],
    ],
    [
      "a file as type",
      plugins("type: ./mine.ts"),
      [
        '6:15  spec.plugins[0].type  found the unknown plugin type "./mine.ts"; wanted a built-in type. A module of your own is loaded by from.',
      ],
    ],
    [
      "both type and from",
      plugins("type: queue, from: ./mine.ts"),
      ["6:22  spec.plugins[0].from  found both type and from; wanted type for a built-in plugin, or from for a module."],
    ],
    [
      "neither",
      plugins("name: x"),
      ['6:7  spec.plugins[0]  found neither "type" nor "from"; wanted type for a built-in plugin, or from for a module.'],
    ],
    [
      "a name twice",
      plugins("type: queue, name: x", "type: prefix-cache, name: x"),
      ['7:35  spec.plugins[1].name  found the plugin name "x" a second time; wanted a name of its own for each entry.'],
    ],
    [
      "a type twice without names",
      plugins("type: queue", "type: queue"),
      ['7:7  spec.plugins[1].name  found the plugin name "queue" a second time; wanted a name of its own for each entry.'],
    ],
    [
      "the name of another type",
      plugins("type: queue, name: random"),
      ['6:28  spec.plugins[0].name  found the name "random", which is a built-in type; wanted a name of its own.'],
    ],
    [
      "two of one parser",
      plugins("type: messages", "type: messages, name: m"),
      ['7:7  spec.plugins[1]  found the parser "messages" a second time, beside "messages"; wanted one for each API.'],
    ],
    [
      "the static discovery",
      plugins("type: static"),
      ['6:15  spec.plugins[0].type  found the plugin type "static", which runs by itself; wanted spec.pool.endpoints instead.'],
    ],
    [
      "the rewriter",
      plugins("type: model-rewrite"),
      [
        '6:15  spec.plugins[0].type  found the plugin type "model-rewrite", which runs by itself; wanted documents of kind InferenceModelRewrite instead.',
      ],
    ],
    [
      "a wrong parameter",
      plugins("type: prefix-cache, parameters: { blockBytes: many }"),
      ['6:55  spec.plugins[0].parameters.blockBytes  found "many"; wanted a number.'],
    ],
    [
      "a parameter out of bounds",
      plugins("type: prefix-cache, parameters: { blockBytes: 1 }"),
      ["6:55  spec.plugins[0].parameters.blockBytes  found 1; wanted at least 16."],
    ],
    [
      "an unknown parameter",
      plugins("type: prefix-cache, parameters: { blokBytes: 64 }"),
      [
        '6:43  spec.plugins[0].parameters.blokBytes  found the unknown key "blokBytes"; wanted one of: blockBytes, hash, tiers. Did you mean "blockBytes"?',
      ],
    ],
    [
      "an unknown parameter deep inside",
      plugins("type: prefix-cache, parameters: { tiers: [{ name: a, shar: 1, share: 1 }] }"),
      [
        '6:62  spec.plugins[0].parameters.tiers[0].shar  found the unknown key "shar"; wanted one of: name, share. Did you mean "share"?',
      ],
    ],
    [
      "a mistyped choice",
      plugins("type: prefix-cache, parameters: { hash: xxh46 }"),
      ['6:49  spec.plugins[0].parameters.hash  found "xxh46"; wanted "xxh64" or "murmur". Did you mean "xxh64"?'],
    ],
    ["a missing parameter", plugins("type: dns"), ['6:7  spec.plugins[0].parameters.host  found no "host"; wanted text.']],
    [
      "parameters that are a list",
      plugins("type: queue, parameters: [1]"),
      ["6:34  spec.plugins[0].parameters  found a list; wanted a mapping."],
    ],
  ]);
});

describe("profiles", () => {
  const profile = (refs: string, plugins = "[]") =>
    router(`${POOL}  plugins: ${plugins}\n  profiles:\n    - plugins: [${refs}]\n`);
  problemTests([
    [
      "two of them",
      router(`${POOL}  profiles: [{ name: a }, { name: b }]\n`),
      ["5:27  spec.profiles[1]  found 2 profiles; wanted exactly one."],
    ],
    [
      "a reference to nothing",
      profile("{ pluginRef: cach }", "[{ type: prefix-cache, name: cache }]"),
      [
        '7:30  spec.profiles[0].plugins[0].pluginRef  found "cach", which is not the name of a plugin; wanted the name of an entry in spec.plugins, or a built-in type. Did you mean "cache"?',
      ],
    ],
    [
      "a reference to an entry with a problem of its own",
      profile("{ pluginRef: x }", "[{ type: quue, name: x }]"),
      ['5:21  spec.plugins[0].type  found the unknown plugin type "quue"; wanted a built-in type. Did you mean "queue"?'],
    ],
    [
      "a type that has another name",
      profile("{ pluginRef: queue }", "[{ type: queue, name: q }]"),
      ['7:30  spec.profiles[0].plugins[0].pluginRef  found the type "queue", which is listed under another name; wanted "q".'],
    ],
    [
      "a type that needs parameters",
      profile("{ pluginRef: label-selector }"),
      [
        '7:30  spec.profiles[0].plugins[0].pluginRef  found "label-selector" without the parameters it needs; wanted an entry in spec.plugins that gives them.',
      ],
    ],
    [
      "a parser",
      profile("{ pluginRef: messages }"),
      [
        '7:30  spec.profiles[0].plugins[0].pluginRef  found "messages", which is a parser; wanted a filter, scorer or picker. A parser runs without being in a profile.',
      ],
    ],
    [
      "the same twice",
      profile("{ pluginRef: queue }, { pluginRef: queue }"),
      ['7:52  spec.profiles[0].plugins[1].pluginRef  found "queue" a second time; wanted each plugin once in a profile.'],
    ],
    [
      "two pickers",
      profile("{ pluginRef: random }, { pluginRef: max-score }"),
      ['7:40  spec.profiles[0].plugins[1]  found a second picker, "max-score", beside "random"; wanted one picker.'],
    ],
    [
      "two pickers without a profile",
      router(`${POOL}  plugins: [{ type: random }, { type: max-score }]\n`),
      ['5:31  spec.plugins[1]  found a second picker, "max-score", beside "random"; wanted one picker.'],
    ],
    [
      "a weight on a filter",
      profile("{ pluginRef: ready, weight: 2 }"),
      ['7:37  spec.profiles[0].plugins[0].weight  found a weight on "ready", which is a filter; wanted weights on scorers only.'],
    ],
    [
      "a weight below 0",
      profile("{ pluginRef: queue, weight: -1 }"),
      ["7:45  spec.profiles[0].plugins[0].weight  found -1; wanted a number from 0 to 1000000."],
    ],
  ]);
});

describe("didYouMean", () => {
  const names = ["queue", "prefix-cache", "running", "max-score"];
  const cases: readonly (readonly [word: string, hint: string])[] = [
    ["queu", 'Did you mean "queue"?'],
    ["Queue", 'Did you mean "queue"?'],
    ["qeuue", 'Did you mean "queue"?'],
    ["prefix_cache", 'Did you mean "prefix-cache"?'],
    ["maxscore", 'Did you mean "max-score"?'],
    ["something", ""],
    ["pref", 'Did you mean "prefix-cache"?'],
    ["max", 'Did you mean "max-score"?'],
    ["q", ""],
    ["", ""],
    ["x".repeat(10_000), ""],
  ];
  for (const [word, hint] of cases) test(JSON.stringify(word.slice(0, 20)), () => assert.equal(didYouMean(word, names), hint));
});
