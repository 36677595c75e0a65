import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, describe, it } from "node:test";
import { printableJson, refusalOf, tokenHeader } from "../../../../apps/cli/admin/ask-admin.ts";
import { parseEndpointUrl } from "../../../../core/contract/endpoint-url.ts";
import { adminInput } from "../../../support/cli.ts";

describe("what a command says of a refusal", () => {
  const page = (code: string) => JSON.stringify({ error: { code, message: "It is so." } });
  const api = JSON.stringify({ detail: "It is so; see faults.", faults: ["one", "two"] });
  const rows: readonly (readonly [name: string, status: number, body: string, exitCode: number, said: RegExp])[] = [
    ["a page that wants a token", 401, page("unauthorized"), 2, /^It is so\.\n.*--token-file, or in SIGNALBOX_ADMIN_TOKEN\.$/],
    ["an operation that does", 401, api, 2, /^one\n {2}two\n {2}It is so\.\n.*--token-file/],
    ["a name that the port does not know", 421, page("unknown_host"), 2, /^It is so\.$/],
    ["a change that does not fit", 422, api, 1, /^one\n {2}two\n {2}It is so\.$/],
    ["the clients' port, which has other codes", 401, page("invalid_api_key"), 4, /is not a router's admin port/],
    ["the clients' port without keys", 404, page("unknown_path"), 4, /is not a router's admin port/],
    ["a replica", 404, "null", 4, /is not a router's admin port/],
    ["a web page", 200, "<html>", 4, /is not a router's admin port/],
  ];
  for (const [name, status, body, exitCode, said] of rows)
    it(name, () => {
      const error = refusalOf({ status, body }, parseEndpointUrl("http://router:9090"));
      assert.equal(error.exitCode, exitCode);
      assert.match(error.message, said);
    });
});

describe("the token that a command sends", () => {
  const rows = [
    ["a line break", "a\nx: y"],
    ["what is no ASCII", "ключ"],
  ] as const;
  for (const [name, token] of rows)
    it(`is refused with ${name} in it`, () => {
      const file = join(mkdtempSync(join(tmpdir(), "signalbox-token-")), "token");
      writeFileSync(file, token);
      after(() => rmSync(dirname(file), { recursive: true }));
      assert.throws(() => tokenHeader(adminInput("http://router:9090", "--token-file", file)), /one line of ASCII characters/);
    });
});

describe("JSON of a router, with its texts made printable", () => {
  const rows: readonly (readonly [name: string, text: string, value: unknown])[] = [
    ["nothing to change", '{ "a": ["gpu-1", 1, null],\n\t"模型": "x \\"y\\"" }', { a: ["gpu-1", 1, null], 模型: 'x "y"' }],
    ["an escape in a value", '{"a":"\\u001b[2J"}', { a: "?[2J" }],
    ["a line feed in a value", '["a\\nb"]', ["a?b"]],
    ["an escape in a key", '{"\\u202e":1}', { "?": 1 }],
    ["a character that stands there itself", '["\u009b2J"]', ["?2J"]],
  ];
  for (const [name, text, value] of rows) it(name, () => assert.deepEqual(printableJson(text), value));
});
