import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { readJsonBody } from "../../../../core/body/json-body.ts";
import { inputItems, replayedBody } from "../../../../plugins/features/conversations/replayed-body.ts";
import { Turn } from "../../../../plugins/features/conversations/turn.ts";

const KEYS = { keys: ["model", "input", "previous_response_id"] };
const NO_PARENT = undefined;

function replayed(body: string, history: readonly string[]): string {
  const bytes = Buffer.from(body);
  const read = readJsonBody(bytes, KEYS, 64);
  const turns = history.map((items, index) => new Turn(`resp_${index}`, NO_PARENT, Buffer.from(items), 0));
  return Buffer.concat(replayedBody(bytes, read.span("previous_response_id")!, read.span("input"), turns)).toString();
}

describe("the body with its history", () => {
  const cases: readonly (readonly [name: string, body: string, expected: string])[] = [
    ["a text", '{"previous_response_id":"r","input":"hi"}', '{"input":[1,2,{"type":"message","role":"user","content":"hi"}]}'],
    ["a list", '{"input":[3],"previous_response_id":"r"}', '{"input":[1,2,3]}'],
    ["white space", '{ "input" : [\n3 ] , "previous_response_id" : "r" }', '{ "input" : [1,2,\n3]  }'],
    ["in the middle", '{"a":1,"previous_response_id":"r","input":[3]}', '{"a":1,"input":[1,2,3]}'],
    ["an empty list", '{"input":[ ],"previous_response_id":"r"}', '{"input":[1,2]}'],
    ["null", '{"previous_response_id":"r","input":null}', '{"input":[1,2]}'],
    ["no input", '{"a":1,"previous_response_id":"r"}', '{"a":1,"input":[1,2]}'],
    ["a key with escapes", '{"a":",\\"","previous\\u005fresponse_i\\u0064" :"r","input":[3]}', '{"a":",\\"","input":[1,2,3]}'],
  ];
  for (const [name, body, expected] of cases) it(name, () => assert.equal(replayed(body, ["1", "", "2"]), expected));

  it("may have no history that holds an item", () => {
    assert.equal(replayed('{"input":[3],"previous_response_id":"r"}', ["", ""]), '{"input":[3]}');
    assert.equal(replayed('{"input":[],"previous_response_id":"r"}', []), '{"input":[]}');
  });

  it("says the same as a model of it in JavaScript, whatever the body is like", () => {
    const blank = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
    const item = fc.jsonValue({ maxDepth: 3 });
    const input = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(item, { maxLength: 4 }),
      fc.constant(null),
      fc.constant(undefined),
    );
    const other = fc.dictionary(fc.string({ minLength: 1 }), item, { maxKeys: 4 });
    const history = fc.array(fc.array(item, { maxLength: 3 }), { maxLength: 4 });
    fc.assert(
      fc.property(other, input, history, blank, fc.nat(), fc.boolean(), (members, asked, turns, space, at, isEscaped) => {
        const { model: _model, input: _input, previous_response_id: _previous, ["__proto__"]: _proto, ...rest } = members;
        const entries: [string, string][] = Object.entries(rest).map(([key, value]) => [
          JSON.stringify(key),
          JSON.stringify(value),
        ]);
        const key = isEscaped ? '"previous_response\\u005Fid"' : '"previous_response_id"';
        const own: [string, string][] = [
          [key, '"resp_1"'],
          ['"model"', '"m"'],
        ];
        if (asked !== undefined) own.push(['"input"', JSON.stringify(asked)]);
        for (const [index, entry] of own.entries()) entries.splice((at + 7 * index) % (entries.length + 1), 0, entry);
        const spaced = entries.map(([name, value]) => `${space}${name}${space}:${space}${value}${space}`);
        const body = `${space}{${spaced.join(",")}}${space}`;
        const kept = turns.map((items) => JSON.stringify(items).slice(1, -1));
        const message = typeof asked === "string" ? [{ type: "message", role: "user", content: asked }] : (asked ?? []);
        const expected = { ...rest, model: "m", input: [...turns.flat(), ...message] };
        const text = replayed(body, kept);
        assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(expected)));
      }),
      { numRuns: 500 },
    );
  });
});

describe("the items of an input", () => {
  const items = (input: string) => {
    const bytes = Buffer.from(`{"input":${input}}`);
    return Buffer.concat(inputItems(bytes, readJsonBody(bytes, KEYS, 64).span("input")).items).toString();
  };

  it("are those of the list, as caches have them, or one message", () => {
    assert.equal(items("[ 1, 2 ]"), " 1, 2");
    assert.equal(items("[]"), "");
    assert.equal(items("null"), "");
    assert.equal(items('"hi"'), '{"type":"message","role":"user","content":"hi"}');
    assert.throws(() => items("7"), /must be a text or a list/);
    assert.throws(() => items("{}"), /must be a text or a list/);
  });
});
