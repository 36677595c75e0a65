import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { namesIn } from "./public-names.ts";

describe("the names that a declaration file exports", () => {
  for (const [declarations, names] of [
    ["/** export it */\ninterface Hidden {\n}\nexport {};\n", {}],
    ['export type { A, B } from "./a.js";\n', { A: "type", B: "type" }],
    [
      'export {\n    a,\n    type B,\n    c as d,\n    type E as F,\n} from "./a.js";\n',
      { B: "type", F: "type", a: "value", d: "value" },
    ],
    ["export interface A extends B {\n    readonly export: string;\n}\n", { A: "type" }],
    ["export type A<B> = B;\n", { A: "type" }],
    ["export declare class A extends Error {\n}\nexport declare abstract class B {\n}\n", { A: "value", B: "value" }],
    ["export declare function a(): void;\nexport declare function a(b: string): void;\n", { a: "value" }],
    ["export declare const a: 1;\n", { a: "value" }],
    ["declare const a: 1;\nexport { a as default };\n", { default: "value" }],
  ] as const)
    it(JSON.stringify(declarations), () => {
      assert.deepEqual(namesIn(declarations), names);
    });

  for (const unread of ['export * from "./a.js";', 'export * as a from "./a.js";', "export default a;", "export = a;"])
    it(`${unread} is an error`, () => {
      assert.throws(() => namesIn(`${unread}\n`), { message: `public-names.ts can't read this export: ${unread}` });
    });
});
