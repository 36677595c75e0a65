import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { checkPages, findPage, pagePaths } from "../../../apps/admin/pages.ts";
import type { Named } from "../../../core/active-config.ts";
import type { Observer } from "../../../core/contract/observer.ts";

const observer = (name: string, ...paths: readonly string[]): Named<Observer> => ({
  name,
  type: name,
  plugin: { finished() {}, pages: paths.map((path) => ({ path, contentType: "text/plain", render: () => name })) },
});
const silent: Named<Observer> = { name: "silent", type: "silent", plugin: { finished() {} } };

test("the pages of all observers are found", () => {
  const observers = [silent, observer("a", "/a", "/b"), observer("c", "/c/d")];
  checkPages(observers);
  assert.deepEqual(pagePaths(observers), ["/", "/status", "/scale", "/a", "/b", "/c/d"]);
  assert.equal(findPage(observers, "/c/d"), observers[2]?.plugin.pages?.[0]);
  assert.equal(findPage(observers, "/d"), undefined);
});

describe("invalid pages", () => {
  const cases: readonly [name: string, observers: Parameters<typeof checkPages>[0], message: RegExp][] = [
    ["the same path twice", [observer("a", "/a"), observer("b", "/b", "/a")], /"a" and "b" both have the page \/a: take one/],
    ["the same path twice in one observer", [observer("a", "/a", "/a")], /"a" and "a" both/],
    ["a path of the admin port itself", [observer("a", "/status")], /"a" has the page \/status, which the admin port itself has/],
    ["a path without a slash", [observer("a", "metrics")], /"a" has a page whose path is not of the form \/name/],
    ["a path with a query", [observer("a", "/a?b")], /not of the form \/name/],
  ];
  const stream = (name: string, ...paths: readonly string[]): Named<Observer> => ({
    name,
    type: name,
    plugin: { finished() {}, streams: paths.map((path) => ({ path, summary: "", parameters: [], listen: () => () => {} })) },
  });
  const streams: typeof cases = [
    [
      "the same stream twice",
      [stream("a", "/a/stream"), stream("b", "/a/stream")],
      /"a" and "b" both have the stream \/a\/stream/,
    ],
    ["a stream without a slash", [stream("a", "stream")], /"a" has a stream whose path is not of the form/],
    ["a stream at the root", [stream("a", "/")], /not of the form/],
  ];
  for (const [name, observers, message] of [...cases, ...streams])
    it(name, () => assert.throws(() => checkPages(observers), message));
});
