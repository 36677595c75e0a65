import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { allowedHosts } from "../../../apps/admin/allowed-hosts.ts";

const isAllowed = allowedHosts(["0.0.0.0", "Router.example.org"]);

describe("an allowed Host header", () => {
  const hosts = [
    "localhost",
    "localhost:9090",
    "LOCALHOST:1",
    "127.0.0.1",
    "127.0.0.1:9090",
    "10.1.2.3:80",
    "[::1]",
    "[::1]:9090",
  ].concat([
    "[fe80::1]:9090",
    "[::ffff:127.0.0.1]:9090",
    "signalbox:9090",
    "router.example.org",
    "ROUTER.example.ORG:9090",
    "localhost:",
  ]);
  for (const host of hosts) it(host, () => assert.equal(isAllowed(host), true));
  it("none at all, as in HTTP/1.0", () => assert.equal(isAllowed(undefined), true));
});

describe("a refused Host header", () => {
  const hosts = [
    "",
    ":9090",
    "evil.example",
    "evil.example:9090",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "sub.router.example.org",
  ].concat(["router.example.org.", "127.0.0.1.", "1.2.3", "[::1", "[evil.example]", "evil.example:80:90", "::1"]);
  for (const host of hosts) it(host === "" ? "an empty one" : host, () => assert.equal(isAllowed(host), false));
});
