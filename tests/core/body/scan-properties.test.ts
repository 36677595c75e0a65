import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { spliceModel } from "../../../core/body/splice.ts";
import { spelledObject } from "./spelled.ts";
import { KEYS, parsed, parsedSpan, utf8, verdict } from "./verdict.ts";

const DEEP = 10_000;

describe("over random objects", () => {
  test("the scanner notes the values that JSON.parse returns", () => {
    fc.assert(
      fc.property(spelledObject(), (text) => {
        const bytes = utf8(text);
        const { code, message, spans } = verdict(bytes, [], DEEP);
        assert.equal(code, "ok", message);
        const value = parsed(bytes) as Record<string, unknown>;
        const wanted = KEYS.filter((key) => Object.hasOwn(value, key));
        assert.deepEqual(Object.keys(spans), wanted);
        for (const key of wanted) assert.deepEqual(parsedSpan(bytes, spans[key]!), value[key]);
      }),
      { numRuns: 500 },
    );
  });

  test("the result does not depend on where chunks end", () => {
    fc.assert(
      fc.property(
        spelledObject(),
        fc.array(fc.nat({ max: 400 }), { maxLength: 12 }),
        fc.nat({ max: 400 }),
        (text, places, loss) => {
          // Some bodies are cut short, so that refusals are compared too.
          const bytes = utf8(text).subarray(0, loss < 100 ? -1 - loss : undefined);
          const cuts = [...new Set(places)].filter((place) => place < bytes.length).sort((a, b) => a - b);
          assert.deepEqual(verdict(bytes, cuts, DEEP), verdict(bytes, [], DEEP));
        },
      ),
      { numRuns: 300 },
    );
  });

  test("a splice changes the model and nothing else", () => {
    fc.assert(
      fc.property(spelledObject(), fc.string({ unit: "binary" }), (text, target) => {
        const bytes = utf8(text);
        const span = verdict(bytes, [], DEEP).spans["model"];
        if (span === undefined || bytes[span[0]] !== 0x22) return;
        const spliced = Uint8Array.from(spliceModel(bytes, span, target).flatMap((part) => [...part]));
        assert.deepEqual(parsed(spliced), { ...(parsed(bytes) as object), model: target });
        const tail = bytes.length - span[1];
        assert.deepEqual(spliced.subarray(0, span[0]), bytes.subarray(0, span[0]));
        assert.deepEqual(spliced.subarray(spliced.length - tail), bytes.subarray(span[1]));
      }),
      { numRuns: 300 },
    );
  });
});

describe("over damaged objects", () => {
  const damage = fc.record({
    place: fc.nat(),
    byte: fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(...utf8('"\\{}[],:0123456789-+.eEtfnu \n'))),
  });

  test("the scanner refuses what JSON.parse refuses", () => {
    fc.assert(
      fc.property(
        spelledObject(),
        fc.array(damage, { minLength: 1, maxLength: 3 }),
        fc.constantFrom("change", "insert", "remove"),
        (text, damages, how) => {
          const bytes = [...utf8(text)];
          for (const { place, byte } of damages) {
            const at = place % bytes.length;
            if (how === "change") bytes[at] = byte;
            else if (how === "insert") bytes.splice(at, 0, byte);
            else bytes.splice(at, 1);
          }
          const body = Uint8Array.from(bytes);
          const value = parsed(body);
          const { code } = verdict(body, [], DEEP);
          // The only two differences: a noted key may come only once, and the body must be an object.
          if (code === "invalid_value") assert.ok(value === undefined || typeof value === "object");
          else assert.equal(code === "ok", typeof value === "object" && value !== null && !Array.isArray(value));
        },
      ),
      { numRuns: 3000 },
    );
  });
});
