import assert from "node:assert/strict";
import test from "node:test";
import { forwardedForLine, requestLines, responseLines } from "../../../core/wire/forwarded-headers.ts";
import { REQUEST_RULES } from "../../../core/wire/request-headers.ts";
import { requestHead, responseHead } from "../../support/wire-heads.ts";

const lines = (text: readonly string[]) => text.map((line) => `${line}\r\n`).join("");

/** As sent by real clients and proxies: lower, capital, upper. */
function casings(name: string): string[] {
  return [name, name.replace(/(^|-)[a-z]/g, (letters) => letters.toUpperCase()), name.toUpperCase()];
}

const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

const droppedFromRequests = [
  ...HOP_BY_HOP,
  "host",
  "content-length",
  "expect",
  "accept-encoding",
  "x-request-id",
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded",
  "x-gateway-destination-endpoint",
  "x-gateway-",
  "x-llm-d-request-dropped-reason",
  "x-prefiller-url",
  "x-prefiller-host-port",
  "x-encoder-hosts-ports",
  "x-data-parallel-host-port",
  "x-vllm-priority",
  "x-envoy-original-path",
  "x-signalbox-endpoint",
  "x_forwarded_for",
  "content_length",
  "a_",
  "_",
  "x-a_b",
];
const keptInRequests = [
  "content-type",
  "content-encoding",
  "authorization",
  "x-api-key",
  "accept",
  "accept-encodings",
  "user-agent",
  "cookie",
  "request-id",
  "x-request-ids",
  "forwarded-for",
  "x-stainless-lang",
  "x-session-id",
  "x-gateway",
  "y-gateway-a",
  "xx-gateway-a",
  "x-",
  "x",
  "traceparent",
  "anthropic-version",
  "constructor",
];
const droppedFromResponses = [
  ...HOP_BY_HOP,
  "content-length",
  "x-request-id",
  "request-id",
  "x-signalbox-endpoint",
  "x-signalbox-model",
];
const keptInResponses = [
  "date",
  "server",
  "content-type",
  "content-encoding",
  "retry-after",
  "x-envoy-upstream-service-time",
  "x-gateway-a",
  "a_b",
  "x-signalbox",
  "openai-processing-ms",
];

test("headers of requests", async (t) => {
  for (const name of droppedFromRequests) {
    await t.test(`${name} is dropped`, () => {
      for (const cased of casings(name))
        assert.equal(requestLines(requestHead(["a: 1", `${cased}: close`, "b: 2"])), "a: 1\r\nb: 2\r\n");
    });
  }
  for (const name of keptInRequests) {
    await t.test(`${name} is kept`, () => {
      for (const cased of casings(name)) assert.equal(requestLines(requestHead([`${cased}: 1`])), `${cased}: 1\r\n`);
    });
  }
});

const LISTED = REQUEST_RULES.flatMap(({ names }) => names);
const isListed = (name: string) =>
  LISTED.some((listed) => listed === name || (listed.endsWith("*") && name.startsWith(listed.slice(0, -1))));

test("every header of the table of requests", async (t) => {
  for (const { why, names } of REQUEST_RULES) {
    for (const name of names) {
      const beginning = name.replace("*", "");
      const examples = name === beginning ? [name] : [beginning, `${beginning}a`, `${beginning}-1`];
      await t.test(`${name} is dropped: ${why}`, () => {
        for (const example of examples) {
          for (const cased of [...casings(example), example.replaceAll("-", "_"), example.replace("-", "_")])
            assert.equal(requestLines(requestHead(["a: 1", `${cased}: close`, "b: 2"])), "a: 1\r\nb: 2\r\n", cased);
        }
        for (const other of [`y${beginning}`, `${name.slice(0, -1)}~`, `${name.replace("*", "")}~`]) {
          if (!isListed(other)) assert.equal(requestLines(requestHead([`${other}: 1`])), `${other}: 1\r\n`, other);
        }
      });
    }
  }

  await t.test("names each header once", () => {
    assert.equal(new Set(LISTED).size, LISTED.length);
  });
});

const forwardedFor: readonly (readonly [lines: readonly string[], peer: string, replaced: string, appended: string])[] = [
  [[], "10.0.0.1", "10.0.0.1", "10.0.0.1"],
  [["X-Forwarded-For: 6.6.6.6"], "10.0.0.1", "10.0.0.1", "6.6.6.6, 10.0.0.1"],
  [["x-forwarded-for: a, b", "a: 1", "X-FORWARDED-FOR: c"], "::1", "::1", "a, b, c, ::1"],
  [["x-forwarded-for: "], "10.0.0.1", "10.0.0.1", "10.0.0.1"],
  [["x-forwarded-for: 6.6.6.6"], "", "", "6.6.6.6"],
  [["x_forwarded_for: 6.6.6.6", "x-real-ip: 7.7.7.7"], "10.0.0.1", "10.0.0.1", "10.0.0.1"],
  [[], "", "", ""],
];

test("X-Forwarded-For", async (t) => {
  const line = (value: string) => (value === "" ? "" : `X-Forwarded-For: ${value}\r\n`);
  for (const [given, peer, replaced, appended] of forwardedFor) {
    await t.test(`${JSON.stringify(given)} from ${peer || "nobody"}`, () => {
      const head = requestHead(given);
      assert.equal(forwardedForLine(head, peer, "replace"), line(replaced));
      assert.equal(forwardedForLine(head, peer, "append"), line(appended));
      assert.equal(forwardedForLine(head, peer, "drop"), "");
    });
  }
});

test("headers of responses", async (t) => {
  for (const name of droppedFromResponses) {
    await t.test(`${name} is dropped`, () => {
      for (const cased of casings(name))
        assert.equal(responseLines(responseHead(["a: 1", `${cased}: close`, "b: 2"])), "a: 1\r\nb: 2\r\n");
    });
  }
  for (const name of keptInResponses) {
    await t.test(`${name} is kept`, () => {
      for (const cased of casings(name)) assert.equal(responseLines(responseHead([`${cased}: 1`])), `${cased}: 1\r\n`);
    });
  }
});

const mixtures: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["nothing", [], []],
  ["only dropped ones", ["Host: a", "TE: trailers"], []],
  ["all kept, bytes unchanged", ["A:  b ", "c:\xff", "D:"], ["A:  b ", "c:\xff", "D:"]],
  ["dropped at both ends", ["Host: a", "A: 1", "B: 2", "Upgrade: h2c"], ["A: 1", "B: 2"]],
  ["dropped in the middle", ["A: 1", "Host: a", "TE: b", "B: 2", "Keep-Alive: 5", "C: 3"], ["A: 1", "B: 2", "C: 3"]],
  ["what Connection names", ["Connection: close, X-Own", "x-own: 1", "X-Own: 2", "X-Owner: 3"], ["X-Owner: 3"]],
  ["what a later Connection names", ["b: 1", "a: 1", "Connection: A", "Connection: B, keep-alive"], []],
  ["values that look like dropped names", ["A: x-envoy-b", "B: a_b"], ["A: x-envoy-b", "B: a_b"]],
];

test("mixtures", async (t) => {
  for (const [what, given, kept] of mixtures) {
    await t.test(what, () => assert.equal(requestLines(requestHead(given)), lines(kept)));
  }
  await t.test("what Connection names in a response", () => {
    assert.equal(responseLines(responseHead(["Connection: X-Own", "x-own: 1", "Date: 2"])), "Date: 2\r\n");
  });
});
