import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { OwnRoutes } from "../../core/own-routes.ts";

describe("a feature that answers all paths", () => {
  const answer = () => ({ status: 200, headers: {}, body: "" });
  const plugin = { routes: [{ method: "GET" as const, path: "/*", bodyBytes: 0, answer }] };
  const routes = new OwnRoutes([{ name: "mine", plugin }]);
  const rows: readonly (readonly [path: string, isFound: boolean])[] = [
    ["/", true],
    ["/v1/mine", true],
    ["/healthy", true],
    ["/health", false],
    ["/ready", false],
  ];
  for (const [path, isFound] of rows)
    it(`${isFound ? "has" : "leaves the router"} ${path}`, () => {
      assert.equal(routes.find("GET", path) !== undefined, isFound);
      assert.deepEqual(routes.methodsAt(path), isFound ? ["GET", "HEAD"] : []);
    });
});
