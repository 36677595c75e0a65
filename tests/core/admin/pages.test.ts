import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import type { Named } from "../../../core/active-config.ts";
import { checkPages, findPage, pagePaths } from "../../../core/admin/pages.ts";
import type { Observer } from "../../../core/contract/observer.ts";

const observer = (name: string, ...paths: readonly string[]): Named<Observer> => ({
  name,
  type: name,
  plugin: { finished() {}, pages: paths.map((path) => ({ path, contentType: "text/plain", render: () => name })) },
});
const silent: Named<Observer> = { name: "silent", type: "silent", plugin: { finished() {} } };

test("every observer's pages are found", () => {
  const observers = [silent, observer("a", "/a", "/b"), observer("c", "/c/d")];
  checkPages(observers);
  assert.deepEqual(pagePaths(observers), ["/", "/status", "/a", "/b", "/c/d"]);
  assert.equal(findPage(observers, "/c/d"), observers[2]?.plugin.pages?.[0]);
  assert.equal(findPage(observers, "/d"), undefined);
});

describe("pages that can't be", () => {
  const cases: readonly [name: string, observers: Parameters<typeof checkPages>[0], message: RegExp][] = [
    ["two of one path", [observer("a", "/a"), observer("b", "/b", "/a")], /"a" and "b" both have the page \/a: take one/],
    ["two of one observer", [observer("a", "/a", "/a")], /"a" and "a" both/],
    ["one in the place of our own", [observer("a", "/status")], /"a" has the page \/status, which the admin port has itself/],
    ["one without a slash", [observer("a", "metrics")], /"a" has a page whose path is not like \/name/],
    ["one with a query", [observer("a", "/a?b")], /not like \/name/],
  ];
  for (const [name, observers, message] of cases) it(name, () => assert.throws(() => checkPages(observers), message));
});
