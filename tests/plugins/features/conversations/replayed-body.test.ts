import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { readJsonBody } from "../../../../core/body/json-body.ts";
import { ItemReader, NO_ITEMS } from "../../../../plugins/features/conversations/item-reader.ts";
import { ownInput, replayedBody } from "../../../../plugins/features/conversations/replayed-body.ts";
import { Turn } from "../../../../plugins/features/conversations/turn.ts";

const KEYS = { keys: ["model", "input", "previous_response_id"] };
const NO_PARENT = undefined;

function replayed(body: string, history: readonly string[]): string {
  const bytes = Buffer.from(body);
  const read = readJsonBody(bytes, KEYS, 64);
  const turns = history.map((items, index) => new Turn(`resp_${index}`, NO_PARENT, Buffer.from(items), 0));
  const input = read.span("input");
  const own = ownInput(bytes, input, NO_ITEMS, []).items;
  return Buffer.concat(replayedBody(bytes, read.span("previous_response_id"), input, turns, own)).toString();
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
    return Buffer.concat(ownInput(bytes, readJsonBody(bytes, KEYS, 64).span("input"), NO_ITEMS, []).items).toString();
  };

  it("are those of the list, as caches have them, or one message", () => {
    assert.equal(items("[ 1, 2 ]"), " 1, 2");
    assert.equal(items("[]"), "");
    assert.equal(items("null"), "");
    assert.equal(items('"hi"'), '{"type":"message","role":"user","content":"hi"}');
    assert.throws(() => items("7"), /must be a text or a list/);
    assert.throws(() => items("{}"), /must be a text or a list/);
  });

  it("have others in place of those that refer to them, and their ids are found where they are then", () => {
    const item = fc.record({ id: fc.stringMatching(/^[a-d]$/), text: fc.string({ unit: "binary" }) });
    const reference = fc.record({ id: fc.string({ unit: "binary" }), type: fc.constantFrom("item_reference", null) });
    const other = fc.oneof(fc.jsonValue({ maxDepth: 3 }), item, reference);
    fc.assert(
      fc.property(fc.array(other, { maxLength: 8 }), fc.string({ unit: "binary" }), fc.nat(3), (values, held, blanks) => {
        const text = JSON.stringify(values, undefined, blanks);
        const list = JSON.parse(text) as unknown[];
        const bytes = Buffer.from(`{"input":${text}}`);
        const span = readJsonBody(bytes, KEYS, 64).span("input")!;
        const found = new ItemReader(span);
        for (let end = span[0]; end <= span[1]; end += 1 + (end % 3)) found.push(bytes, end);
        found.finish(bytes, bytes.length);
        const isReference = (value: unknown): value is { id: string } =>
          typeof value === "object" && value !== null && "type" in value && "id" in value && Object.keys(value).length === 2;
        const meant = list.filter(isReference).filter(({ id }) => typeof id === "string");
        assert.deepEqual(
          found.references.map(({ id }) => id),
          meant.map(({ id }) => id),
        );
        const replaced = found.references.map(() => Buffer.from(JSON.stringify({ held })));
        const own = ownInput(bytes, span, found, replaced);
        const sent = Buffer.concat(own.items);
        assert.deepEqual(
          JSON.parse(`[${sent.toString()}]`),
          list.map((value) => (meant.includes(value as never) ? { held } : value)),
        );
        for (const [id, [start, end]] of own.ids)
          assert.equal((JSON.parse(sent.subarray(start, end).toString()) as { id: string }).id, id);
      }),
      { numRuns: 150 },
    );
  });
});
