import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readJsonBody } from "../../../core/body/json-body.ts";
import { encodeName, spliceMembers, spliceModel } from "../../../core/body/splice.ts";
import { utf8 } from "./verdict.ts";

const splice = (text: string, target: string): readonly Uint8Array[] => {
  const bytes = utf8(text);
  return spliceModel(bytes, readJsonBody(bytes, { keys: ["model"] }, 8).span("model")!, target);
};

describe("a new name", () => {
  const cases: Record<string, { body: string; target: string; sent: string }> = {
    longer: { body: '{"model":"a","n":1}', target: "food-review-v1", sent: '{"model":"food-review-v1","n":1}' },
    shorter: { body: '{"n":1, "model" : "food-review" }', target: "f", sent: '{"n":1, "model" : "f" }' },
    "of the same length": { body: '{"model":"v1"}', target: "v2", sent: '{"model":"v2"}' },
    "that needs escapes": { body: '{"model":"a"}', target: 'q"\\\n', sent: '{"model":"q\\"\\\\\\n"}' },
    "in CJK": { body: '{"model":"a"}', target: "模型", sent: '{"model":"模型"}' },
    "in place of none": { body: '{"model":""}', target: "m", sent: '{"model":"m"}' },
    "beside values that a parser would damage": {
      body: '{"seed":12345678901234567890,"t":1.0,"z":-0,"e":1e400,"model":"a","b":"\\u0041","2":1,"1":2}',
      target: "b",
      sent: '{"seed":12345678901234567890,"t":1.0,"z":-0,"e":1e400,"model":"b","b":"\\u0041","2":1,"1":2}',
    },
  };
  for (const [name, { body, target, sent }] of Object.entries(cases)) {
    test(name, () => {
      const parts = splice(body, target);
      assert.equal(parts.length, 3);
      assert.equal(new TextDecoder().decode(Uint8Array.from(parts.flatMap((part) => [...part]))), sent);
    });
  }

  test("copies no byte of the body", () => {
    const bytes = utf8('{"model":"a","n":1}');
    const [before, , after] = spliceModel(bytes, [9, 12], "b");
    assert.equal(before?.buffer, bytes.buffer);
    assert.equal(after?.buffer, bytes.buffer);
  });
});

describe("the name that the body already has", () => {
  const bodies = {
    plain: '{"model":"org/m"}',
    "with an escaped slash": '{"model":"org\\/m"}',
    "with escapes": '{"model":"\\u006frg/m"}',
  };
  for (const [name, body] of Object.entries(bodies)) {
    test(name, () => {
      const bytes = utf8(body);
      const parts = spliceModel(bytes, [9, bytes.length - 1], "org/m");
      assert.equal(parts.length, 1);
      assert.equal(parts[0], bytes);
    });
  }
});

describe("encoded names", () => {
  test("are kept", () => assert.equal(encodeName("kept"), encodeName("kept")));
  test("are not kept when they are long", () => assert.notEqual(encodeName("x".repeat(300)), encodeName("x".repeat(300))));
  test("are dropped when there are too many", () => {
    const first = encodeName("first");
    for (let n = 0; n < 1100; n++) encodeName(`name ${n}`);
    assert.notEqual(encodeName("first"), first);
    assert.deepEqual(encodeName("first"), first);
  });
});

describe("a salt", () => {
  const rows: readonly (readonly [name: string, body: string, sent: string])[] = [
    ["is added where there is none", ' \n{ "model":"a","n":1.0}', ' \n{"cache_salt":"S", "model":"b","n":1.0}'],
    ["takes the place of the client's, before the model", '{"cache_salt":"x" ,"model":"a"}', '{"cache_salt":"S" ,"model":"b"}'],
    ["and behind it", '{"model": "a","n":1e9,"cache_salt" : "x\\u0041"}', '{"model": "b","n":1e9,"cache_salt" : "S"}'],
    ["takes the place of null", '{"cache_salt":null,"model":"a"}', '{"cache_salt":"S","model":"b"}'],
    ["of a key that is written otherwise", '{"cache\\u005fsalt":"x","model":"a"}', '{"cache\\u005fsalt":"S","model":"b"}'],
    [
      "of nothing inside other values",
      '{"o":{"cache_salt":"x"},"model":"a"}',
      '{"cache_salt":"S","o":{"cache_salt":"x"},"model":"b"}',
    ],
  ];
  for (const [name, text, sent] of rows) {
    test(name, () => {
      const bytes = utf8(text);
      const body = readJsonBody(bytes, { keys: ["model", "cache_salt"] }, 8);
      const parts = spliceMembers(bytes, [
        { key: "cache_salt", span: body.span("cache_salt") ?? [-1, -1], value: encodeName("S") },
        { key: "model", span: body.span("model")!, value: encodeName("b") },
      ]);
      assert.equal(new TextDecoder().decode(Uint8Array.from(parts.flatMap((part) => [...part]))), sent);
    });
  }
});
