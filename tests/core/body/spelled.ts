import fc from "fast-check";
import { KEYS } from "./verdict.ts";

// JSON objects as other clients may write them: with white space, escapes and number forms that JSON.stringify does not use.

const NUMBERS = ["0", "-0", "1.0", "-1.50", "1e3", "1E-2", "0.1e+7", "17", "250", "12345678901234567890", "1e400"];
const SPACES = ["", "", "", " ", "\n  ", "\t\r\n"];

type Pick = (choices: number) => number;

/** The text of a random JSON object. It often has noted keys, the same keys in nested objects, and strings of every kind. */
export function spelledObject(): fc.Arbitrary<string> {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.string({ minLength: 30, maxLength: 90 }),
    fc.constantFrom(...KEYS),
  );
  const { value } = fc.letrec<{ value: unknown; leaf: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, depthSize: "small" },
      tie("leaf"),
      fc.array(tie("value"), { maxLength: 5 }),
      fc.dictionary(text, tie("value"), { maxKeys: 4 }),
    ),
    leaf: fc.oneof(text, fc.constantFrom(null, true, false), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat()),
  }));
  const noted = fc.record(
    { model: fc.oneof(text, value), stream: fc.boolean(), max_tokens: fc.nat(), prompt: value },
    { requiredKeys: [] },
  );
  const members = fc.tuple(fc.dictionary(text, value, { maxKeys: 5 }), noted, fc.nat({ max: 2 ** 31 - 1 }));
  return members.map(([others, asked, seed]) => spellObject(shuffled({ ...others, ...asked }, seed), pickFrom(seed)));
}

function shuffled(object: Record<string, unknown>, seed: number): [string, unknown][] {
  const entries = Object.entries(object);
  return [...entries.slice(seed % (entries.length + 1)), ...entries.slice(0, seed % (entries.length + 1))];
}

function spell(value: unknown, pick: Pick): string {
  if (typeof value === "string") return spellString(value, pick);
  if (typeof value === "number") return pick(4) === 0 ? NUMBERS[pick(NUMBERS.length)]! : JSON.stringify(value);
  if (Array.isArray(value))
    return `[${space(pick)}${value.map((item) => spell(item, pick)).join(`${space(pick)},${space(pick)}`)}${space(pick)}]`;
  if (typeof value === "object" && value !== null) return spellObject(Object.entries(value), pick);
  return JSON.stringify(value);
}

function spellObject(entries: readonly (readonly [string, unknown])[], pick: Pick): string {
  const members = entries.map(([key, value]) => `${spellString(key, pick)}${space(pick)}:${space(pick)}${spell(value, pick)}`);
  return `${space(pick)}{${space(pick)}${members.join(`${space(pick)},${space(pick)}`)}${space(pick)}}${space(pick)}`;
}

/** Escapes every character that needs it, and some that do not. */
function spellString(text: string, pick: Pick): string {
  const rate = [0, 0, 3, 20][pick(4)]!;
  let spelled = '"';
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    const isPair =
      unit >= 0xd800 && unit <= 0xdbff && text.charCodeAt(index + 1) >= 0xdc00 && text.charCodeAt(index + 1) <= 0xdfff;
    if (rate > 0 && pick(rate) === 0) spelled += `\\u${unit.toString(16).padStart(4, "0")}`;
    else if (text[index] === "/" && pick(2) === 0) spelled += "\\/";
    else if (isPair) spelled += text.slice(index, ++index + 1);
    else spelled += JSON.stringify(text[index]).slice(1, -1);
  }
  return `${spelled}"`;
}

function space(pick: Pick): string {
  return SPACES[pick(SPACES.length)]!;
}

/** A small random generator: the same seed always gives the same text. */
function pickFrom(seed: number): Pick {
  let state = seed;
  return (choices) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 8) % choices;
  };
}
