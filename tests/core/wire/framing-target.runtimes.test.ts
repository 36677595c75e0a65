import assert from "node:assert/strict";
import test from "node:test";
import { checkHost, splitTarget } from "../../../core/wire/request-target.ts";
import { requestHead, wireCode } from "../../support/wire-heads.ts";

// [target, path, query]
const targets: readonly (readonly [string, string, string])[] = [
  ["/", "/", ""],
  ["/v1/models", "/v1/models", ""],
  ["/a?b=c", "/a", "b=c"],
  ["/a?", "/a", ""],
  ["/a?b?c", "/a", "b?c"],
  ["//a/../%2e%2E", "//a/../%2e%2E", ""],
  ["/http://a/b", "/http://a/b", ""],
  ["http://a", "/", ""],
  ["http://a?b", "/", "b"],
  ["http://a/b?c", "/b", "c"],
  ["HTTPS://a:1/b//c", "/b//c", ""],
  ["http://a/?b=http://c/d", "/", "b=http://c/d"],
];

test("targets are split into path and query", async (t) => {
  for (const [target, path, query] of targets) {
    await t.test(target, () => assert.deepEqual(splitTarget(target), { path, query }));
  }
});

test("targets that are no path are refused", async (t) => {
  for (const target of ["*", "a:443", "a", "?a", "", "http:/a", "http:a", "ftp://a/b", "xhttp://a/", "*/"]) {
    await t.test(target, () =>
      assert.equal(
        wireCode(() => splitTarget(target)),
        "bad_head",
      ),
    );
  }
});

// [what, request line, header lines, whether it is good]
const hosts: readonly (readonly [string, string, readonly string[], boolean])[] = [
  ["a name", "GET / HTTP/1.1", ["Host: a.example-1"], true],
  ["a name and port", "GET / HTTP/1.1", ["Host: a:8080"], true],
  ["an empty port", "GET / HTTP/1.1", ["Host: a:"], true],
  ["an IPv4 address", "GET / HTTP/1.1", ["Host: 127.0.0.1:80"], true],
  ["an IPv6 address", "GET / HTTP/1.1", ["Host: [::1]"], true],
  ["an IPv6 address and port", "GET / HTTP/1.1", ["Host: [fd00::1:2]:8080"], true],
  ["a percent-encoded name", "GET / HTTP/1.1", ["Host: a%2eb"], true],
  ["sub-delimiters and underscores", "GET / HTTP/1.1", ["Host: a_b~!$&'()*+,;=c"], true],
  ["an empty host", "GET / HTTP/1.1", ["Host:"], true],
  ["no host", "GET / HTTP/1.1", ["X-Host: a"], false],
  ["no host in HTTP/1.0", "GET / HTTP/1.0", [], true],
  ["a bad host in HTTP/1.0", "GET / HTTP/1.0", ["Host: a b"], false],
  ["two hosts", "GET / HTTP/1.1", ["Host: a", "Host: b"], false],
  ["the same host twice", "GET / HTTP/1.1", ["Host: a", "host: a"], false],
  ["two hosts in HTTP/1.0", "GET / HTTP/1.0", ["Host: a", "Host: a"], false],
  ["an empty and another host", "GET / HTTP/1.1", ["Host:", "Host: a"], false],
  ["user information", "GET / HTTP/1.1", ["Host: u@a"], false],
  ["a path", "GET / HTTP/1.1", ["Host: a/b"], false],
  ["a scheme", "GET / HTTP/1.1", ["Host: http://a"], false],
  ["a space inside", "GET / HTTP/1.1", ["Host: a b"], false],
  ["a quote", "GET / HTTP/1.1", ['Host: a"'], false],
  ["a backslash", "GET / HTTP/1.1", ["Host: a\\b"], false],
  ["obs-text", "GET / HTTP/1.1", ["Host: \xe4"], false],
  ["a broken escape", "GET / HTTP/1.1", ["Host: a%2"], false],
  ["a port with letters", "GET / HTTP/1.1", ["Host: a:80b"], false],
  ["a port of six digits", "GET / HTTP/1.1", ["Host: a:123456"], false],
  ["two ports", "GET / HTTP/1.1", ["Host: a:80:80"], false],
  ["a port alone", "GET / HTTP/1.1", ["Host: :80"], false],
  ["IPv6 without brackets", "GET / HTTP/1.1", ["Host: ::1"], false],
  ["half a bracket", "GET / HTTP/1.1", ["Host: [::1"], false],
  ["a zone in brackets", "GET / HTTP/1.1", ["Host: [fe80::1%25eth0]"], false],
  ["absolute-form, same host", "GET http://a:80/b HTTP/1.1", ["Host: a:80"], true],
  ["absolute-form, same host in another case", "GET http://A.b/ HTTP/1.1", ["Host: a.B"], true],
  ["absolute-form without path", "GET http://a?b HTTP/1.1", ["Host: a"], true],
  ["absolute-form, another host", "GET http://a/ HTTP/1.1", ["Host: b"], false],
  ["absolute-form, another port", "GET http://a:80/ HTTP/1.1", ["Host: a"], false],
  ["absolute-form, empty host header", "GET http://a/ HTTP/1.1", ["Host:"], false],
  ["absolute-form, no host header", "GET http://a/ HTTP/1.1", [], false],
  ["absolute-form, no host header in HTTP/1.0", "GET http://a/ HTTP/1.0", [], true],
  ["absolute-form with user information", "GET http://u:p@a/ HTTP/1.1", ["Host: a"], false],
  ["absolute-form without authority", "GET http:///a HTTP/1.1", ["Host:"], false],
  ["absolute-form, no host after the scheme, HTTP/1.0", "GET http:///a HTTP/1.0", [], false],
  ["asterisk-form", "OPTIONS * HTTP/1.1", ["Host: a"], true],
  ["authority-form", "CONNECT a:443 HTTP/1.1", ["Host: a:443"], true],
];

test("Host", async (t) => {
  for (const [what, start, lines, isGood] of hosts) {
    await t.test(what, () => {
      assert.equal(
        wireCode(() => checkHost(requestHead(lines, start))),
        isGood ? "" : "bad_head",
      );
    });
  }
});

test("a long Host is judged in linear time", () => {
  const host = `${"a".repeat(30_000)} `;
  assert.equal(
    wireCode(() => checkHost(requestHead([`Host: ${host}b`]))),
    "bad_head",
  );
});
