import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandsIn } from "../../../apps/import/command-line.ts";

const CASES = [
  { name: "words", text: "smg --port 1", words: [["smg", "--port", "1"]] },
  { name: "a continued line", text: "smg \\\n  --port \\\n  1", words: [["smg", "--port", "1"]] },
  { name: "quotes", text: `smg "a b" 'c "d"' e"f"g ""`, words: [["smg", "a b", 'c "d"', "efg", ""]] },
  { name: "backslashes", text: `a\\ b "c\\"d" '\\'`, words: [["a b", 'c"d', "\\"]] },
  { name: "comments", text: "#!/bin/sh\n# one\nsmg # two\n", words: [["smg"]] },
  { name: "a # inside a word", text: "a#b", words: [["a#b"]] },
  { name: "several commands", text: "a b; c && d | e\nf", words: [["a", "b"], ["c"], ["d"], ["e"], ["f"]] },
  { name: "a quote that does not end", text: 'a "b c', words: [["a", "b c"]] },
  { name: "a backslash at the end", text: "a\\", words: [["a\\"]] },
  { name: "nothing", text: " \n ;\n", words: [] },
];

describe("the commands in a text", () => {
  for (const { name, text, words } of CASES)
    it(`with ${name}`, () => {
      const found = commandsIn(text).map((command) => command.map((word) => word.text));
      assert.deepEqual(found, words);
    });

  it("have the lines of their words", () => {
    const [command] = commandsIn('# first\nsmg \\\n --port "1\n2" --host h\n');
    assert.deepEqual(
      command?.map(({ line }) => line),
      [2, 3, 3, 4, 4],
    );
  });
});
