import assert from "node:assert/strict";
import { it } from "node:test";
import type { LoadedConfig } from "../../../config/load.ts";
import { problemsOfOwn } from "../../../config/plugins/try-out.ts";
import { type Definition, defineKind, defineScorer } from "../../../core/plugin.ts";

function configWith(create: () => unknown, from = "./mine.ts"): LoadedConfig {
  const definition = defineScorer({ type: "mine", summary: "", create: create as never });
  const position = { file: "a.yaml", line: 5, column: 3 };
  const entry = { name: "mine", type: "mine", from: from || undefined, file: "/mine.ts", parameters: {}, folder: ".", position };
  return { config: { plugins: [entry] }, definitions: new Map([["mine", definition as Definition]]) } as never;
}

const found = (loaded: LoadedConfig) => problemsOfOwn(loaded).map(({ line, found }) => [line, found]);

it("check makes plugins of one's own for a moment", () => {
  let disposed = 0;
  assert.deepEqual(found(configWith(() => ({ score: () => null, dispose: () => void disposed++ }))), []);
  assert.equal(disposed, 1);
});

it("check says why one can't be made", () => {
  const fails = () => {
    throw new Error("no disk");
  };
  assert.deepEqual(found(configWith(fails)), [[5, "a plugin that can't run: The plugin \"mine\" can't be made: no disk"]]);
  const [[line, text] = []] = found(configWith(() => Promise.reject(new Error("later"))));
  assert.equal(line, 5);
  assert.match(String(text), /"mine" \(\/mine\.ts\) is no scorer: create must return .* not a promise/);
});

it("check leaves the program's own plugins alone", () => {
  assert.deepEqual(found(configWith(() => undefined, "")), []);
});

it("check gives a plugin those that stand before it, as a router does", () => {
  const words = defineKind<{ count(): number }>("acme/words");
  const ends: string[] = [];
  const counter = words.define({
    type: "counter",
    summary: "",
    create: () => ({ count: () => 3, dispose: () => void ends.push("counter") }),
  });
  const caller = defineScorer({
    type: "caller",
    summary: "",
    uses: [words.kind],
    create(_, host) {
      const [first] = words.of(host);
      if (first === undefined) throw new Error("list one first");
      ends.push(`counts ${first.plugin.count()}`);
      return { score: () => null, dispose: () => void ends.push("caller") };
    },
  });
  const entry = { from: "./a.ts", file: "/a.ts", parameters: {}, folder: ".", position: { file: "a.yaml", line: 5, column: 3 } };
  const definitions = new Map<string, unknown>([
    ["counter", counter],
    ["caller", caller],
  ]);
  const listed = (...names: string[]) =>
    ({ config: { plugins: names.map((name) => ({ ...entry, name, type: name })) }, definitions }) as unknown as LoadedConfig;
  assert.deepEqual(found(listed("counter", "caller")), []);
  assert.deepEqual(ends, ["counts 3", "caller", "counter"]);
  assert.match(String(found(listed("caller", "counter"))[0]?.[1]), /list one first/);
});
