import assert from "node:assert/strict";
import { test } from "node:test";
import type { EndpointSpec } from "../../../core/contract/endpoint.ts";
import staticEndpoints from "../../../plugins/discovery/static.ts";
import { createPlugin, issuesOf } from "../../support/plugins.ts";

test("the list is reported once, with default labels", () => {
  const found: (readonly EndpointSpec[])[] = [];
  const endpoints = [
    { name: "gpu1", url: "http://127.0.0.1:8000", labels: { gpu: "h100" } },
    { name: "gpu2", url: "https://[::1]:8443/base" },
  ];
  createPlugin(staticEndpoints, { endpoints }).start((specs) => found.push(specs));
  assert.deepEqual(found, [[endpoints[0], { ...endpoints[1], labels: {} }]]);
});

test("an address that is not valid is refused", () => {
  for (const url of ["", "gpu1:8000", "ftp://gpu1", "http://"]) {
    assert.ok(issuesOf(staticEndpoints, { endpoints: [{ name: "a", url }] }).length > 0, url);
  }
});
