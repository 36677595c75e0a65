import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { EndpointSpec } from "../../../core/contract/endpoint.ts";
import { DiscoveryLists } from "../../../core/control/discovery-lists.ts";

type Found = (specs: readonly EndpointSpec[]) => void;

/** Lists of discoveries whose news the test brings: "a" finds at its start what is behind ":", "b" nothing yet. */
function makeLists(...discoveries: readonly string[]) {
  const tell = new Map<string, Found>();
  const lists = new DiscoveryLists(
    discoveries.map((text) => {
      const [name = "", atStart] = text.split(":");
      const start = (found: Found) => {
        tell.set(name, found);
        if (atStart !== undefined) found(specsOf(atStart));
      };
      return { name, type: "told", plugin: { start } };
    }),
  );
  let news = 0;
  const follow = (before?: DiscoveryLists) => {
    lists.start();
    lists.succeed(before, () => {
      news += 1;
    });
    return lists;
  };
  const find = (name: string, names: string) => tell.get(name)?.(specsOf(names));
  const names = () => lists.specs.map((each) => each.name).join(" ");
  return { lists, follow, find, names, news: () => news };
}

/** "x y" or, with another host, "x=h". */
function specsOf(names: string): readonly EndpointSpec[] {
  return names
    .split(" ")
    .filter(Boolean)
    .map((text) => {
      const [name = "", host = name] = text.split("=");
      return { name, url: `http://${host}:1`, labels: {} };
    });
}

describe("the lists of a config that follows another", () => {
  it("are its own, where each has told something at its start", () => {
    const before = makeLists("a:x", "gone:y");
    before.follow();
    const after = makeLists("a:z");
    after.follow(before.lists);
    assert.equal(after.names(), "z");
  });

  it("are those before, until a discovery of the same name tells its own", () => {
    const before = makeLists("a:x y");
    before.follow();
    const after = makeLists("a", "b:w");
    after.follow(before.lists);
    assert.equal(after.names(), "x y w");
    after.find("a", "y");
    assert.deepEqual([after.names(), after.news()], ["y w", 1]);
  });

  it("keep what a discovery that is gone had found until all of the next have told something", () => {
    const before = makeLists("old:x y");
    before.follow();
    const after = makeLists("new", "other:y=elsewhere");
    const { specs } = after.follow(before.lists);
    assert.deepEqual(
      specs.map(({ name, url }) => `${name} ${url}`),
      ["y http://elsewhere:1", "x http://x:1"],
      "a name that is listed again is the new one",
    );
    after.find("new", "z");
    assert.equal(after.names(), "z y");
    after.find("new", "");
    assert.equal(after.names(), "y");
  });

  it("keep it over several configs too", () => {
    const first = makeLists("a:x");
    first.follow();
    const second = makeLists("b");
    second.follow(first.lists);
    const third = makeLists("c");
    third.follow(second.lists);
    assert.equal(third.names(), "x");
    third.find("c", "z");
    assert.equal(third.names(), "z");
  });

  it("hear no more from the config before", () => {
    const before = makeLists("a:x");
    before.follow();
    const after = makeLists("a");
    after.follow(before.lists);
    before.find("a", "late");
    assert.deepEqual([after.names(), after.news(), before.news()], ["x", 0, 0]);
  });

  it("can't begin when one of them can't start, which is named", () => {
    const start = () => {
      throw new Error("no network");
    };
    const lists = new DiscoveryLists([{ name: "dns", type: "dns", plugin: { start } }]);
    assert.throws(() => lists.start(), { plugin: "dns", message: 'The discovery "dns" can\'t start: no network' });
  });
});
