import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ActiveConfig } from "../../../core/active-config.ts";
import { silentLog } from "../../../core/contract/log.ts";
import type { ResponseHeader } from "../../../core/contract/profile-plugin.ts";
import { ownResponseLines } from "../../../core/forward/response-lines.ts";
import { makeEndpoints, makeRequest } from "../../support/endpoints.ts";

function linesFor(target: string, headers: readonly (() => ResponseHeader)[] = []): string {
  const config = { settings: { hasRoutingHeaders: true }, profile: { responseHeaders: headers } } as unknown as ActiveConfig;
  return ownResponseLines(makeRequest({ target }), makeEndpoints(1)[0]!, config, silentLog);
}

/** What a target becomes in a header; undefined where there is none. */
const rows: readonly (readonly [name: string, target: string, value: string | undefined])[] = [
  ["ASCII", "meta-llama/Llama-3.1:8B~!", "meta-llama/Llama-3.1:8B~!"],
  ["empty", "", undefined],
  ["a space", "a b", "a%20b"],
  ["a line break", "a\r\nx-injected: 1", "a%0D%0Ax-injected%3A%201"],
  ["more than ASCII", "größe-模型-🚂", "gr%C3%B6%C3%9Fe-%E6%A8%A1%E5%9E%8B-%F0%9F%9A%82"],
  ["a high surrogate alone", "a\ud800b", "a%EF%BF%BDb"],
  ["a low surrogate alone", "a\udfff", "a%EF%BF%BD"],
  ["surrogates in the wrong order", "\udc00\ud800", "%EF%BF%BD%EF%BF%BD"],
  ["a lone one beside a pair", "\ud800\ud83d\ude82", "%EF%BF%BD%F0%9F%9A%82"],
];

describe("a target in a response header", () => {
  for (const [name, target, value] of rows) {
    it(name, () => assert.equal(/^x-signalbox-model: (.*)\r\n/m.exec(linesFor(target))?.[1], value));
  }
});

it("a plugin's header goes the same way; one that throws goes without", () => {
  const broken = () => {
    throw new Error("broken on purpose");
  };
  const lines = linesFor("m", [() => ["x-a", "1 \ud800"], broken, () => ["x-b", "2"]]);
  assert.match(lines, /\r\nx-a: 1%20%EF%BF%BD\r\nx-b: 2\r\n$/);
});
