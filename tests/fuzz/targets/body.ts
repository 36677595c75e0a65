import assert from "node:assert/strict";
import { type JsonBody, readJsonBody } from "../../../core/body/json-body.ts";
import { BodyScanner } from "../../../core/body/scan.ts";
import { spliceModel } from "../../../core/body/splice.ts";
import { RouterError } from "../../../core/contract/errors.ts";
import { KEYS, parsed, parsedSpan, verdict } from "../../core/body/verdict.ts";
import { makeBodyBuffer } from "../../support/body-memory.ts";
import { cut } from "../../support/wire-transcript.ts";
import type { Dice } from "../dice.ts";
import type { Target } from "../fuzz.ts";

const DEEP = 100_000;
const SHALLOW = 6;

/** Request bodies: the scanner and JSON.parse take the same ones, however they arrive, and keys read as their values say. */
export const body: Target = {
  name: "body",
  seeds: [
    '{"model":"m","stream":true,"max_tokens":16,"prompt":["a",{"b":[1,-0.5e+3]}]}',
    ' {"a":{"model":"x"},"mod\\u0065l" : "\\ud83d\\ude00é\\n","prompt":"a long text without anything special in it, over many words of four bytes"}\n',
    '{"prompt":[1,2,3,40,-5,6.5,1e3],"max_tokens":1.0,"stream":null,"x":[[],{},[[[]]],"",false]}',
    '{"prompt":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},{"type":"image","source":{"type":"base64","data":"AAAA"}}]}]}',
    '{"max_tokens":12345678901234567890,"model":"\\"\\\\\\/","stream":false,"model2":0}',
  ].map((text) => Buffer.from(text)),
  words: [
    ...'{|}|[|]|,|:|"|\\|\\"|\\u0000|\\ud800|\\u0065|true|false|null|0|-|1.5|1e9|E|.|+| |\n|\0|\x1f|\x7f|\x80|\xff|\xef\xbb\xbf|é|"model":|"stream":true,|"a":|[]|{}|//'.split(
      "|",
    ),
    ...["url", "data", "image_url", "source", "content", "file_id"].map((key) => `"${key}":`),
    "[".repeat(40),
    "a".repeat(100),
    "1,".repeat(50),
  ],
  check(input, dice) {
    const whole = verdict(input, [], DEEP);
    const places = dice.places(input.length, 8);
    assert.deepEqual(verdict(input, places, DEEP), whole, "in pieces");
    assert.deepEqual(gathered(input, places, dice), whole, "gathered");
    const value = parsed(input);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    // Only here the two part: a noted key may be there once.
    if (whole.code !== "invalid_value") assert.equal(whole.code === "ok", isObject, "JSON.parse");
    if (whole.code === "ok") checkValues(input, value as Record<string, unknown>, whole.spans, dice);
    return `${whole.message.replace(/\d+/g, "0")} ${Object.keys(whole.spans).length}`;
  },
};

/** As the router takes a body in: gathered from reads, scanned on the way. */
function gathered(input: Buffer, places: readonly number[], dice: Dice) {
  const buffer = makeBodyBuffer(dice.isIn(2) ? input.length : -1, 1 << 20);
  const scanner = new BodyScanner(KEYS, DEEP, ["prompt"]);
  try {
    for (const piece of cut(input, places)) {
      buffer.append(Uint8Array.from(piece), 0, piece.length);
      scanner.push(buffer.storage, buffer.length);
    }
    scanner.finish(buffer.storage, buffer.length);
    assert.ok(Buffer.from(buffer.bytes).equals(input), "the gathered bytes");
    const spans = Object.fromEntries(
      KEYS.flatMap((key) => (scanner.spanOf(key) === undefined ? [] : [[key, scanner.spanOf(key)]])),
    );
    return { code: "ok", message: "", spans, parts: scanner.parts };
  } catch (thrown) {
    if (!(thrown instanceof RouterError)) throw thrown;
    return { code: thrown.code, message: thrown.message, spans: {}, parts: [] };
  } finally {
    buffer.release();
  }
}

function checkValues(
  input: Buffer,
  value: Record<string, unknown>,
  spans: Readonly<Record<string, readonly [number, number]>>,
  dice: Dice,
): void {
  const wanted = KEYS.filter((key) => Object.hasOwn(value, key));
  assert.deepEqual(Object.keys(spans), wanted);
  const isUtf8 = Buffer.from(input.toString()).equals(input);
  const json = readJsonBody(Uint8Array.from(input), { keys: KEYS }, DEEP);
  for (const key of wanted) {
    assert.deepEqual(parsedSpan(input, spans[key]!), value[key], key);
    checkReads(json, key, value[key], isUtf8);
  }
  assert.equal(verdict(input, [], SHALLOW).code === "ok", depthOf(value) <= SHALLOW, "depth");
  const target = dice.pick(["x", "", 'a"b\\', "é\u2028"]);
  if (typeof value["model"] !== "string" || !isUtf8) return;
  const spliced = Buffer.concat(spliceModel(input, spans["model"]!, target));
  assert.deepEqual(JSON.parse(spliced.toString()), { ...value, model: target }, "splice");
}

/** Each way of reading a key either gives what JSON.parse says or refuses the value. */
function checkReads(json: JsonBody, key: string, value: unknown, isUtf8: boolean): void {
  const text = attempt(() => json.text(key));
  if (typeof value === "string" && isUtf8) assert.equal(text, value, "text");
  else if (value === null) assert.equal(text, undefined);
  else if (typeof value !== "string") assert.equal(text, REFUSED);
  assert.equal(
    attempt(() => json.flag(key)),
    typeof value === "boolean" ? value : value === null ? false : REFUSED,
    "flag",
  );
  const isCount = typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
  const count = attempt(() => json.count(key));
  // Spelled in more digits than anybody means, a number is refused.
  if (count !== REFUSED) assert.equal(count, isCount ? value + 0 : value === null ? 0 : REFUSED, "count");
  const numbers = Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [];
  const elements = numbers.every((item) => typeof item === "number") ? numbers.length : 0;
  assert.equal(json.countElements(key), elements, "elements");
}

const REFUSED = Symbol("refused");

function attempt<Value>(read: () => Value): Value | typeof REFUSED {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof RouterError) return REFUSED;
    throw thrown;
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Object.values(value).reduce((deepest: number, inner) => Math.max(deepest, depthOf(inner)), 0);
}
