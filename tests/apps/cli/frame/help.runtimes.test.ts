import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { describe, it } from "node:test";
import { commandsOf } from "../../../../apps/cli/commands.ts";
import { commandHelp, programHelp, shortHelp, wholeHelp } from "../../../../apps/cli/frame/help.ts";
import { widthOf } from "../../../../core/report/text-width.ts";
import { builtIns } from "../../../../plugins/registry.ts";
import { run } from "../../../support/cli.ts";

const commands = commandsOf(builtIns);
const named = (name: string) => commands.find((each) => each.name === name)!;
const tooWide = (text: string, columns: number) => text.split("\n").filter((line) => widthOf(line) > columns);

describe("the help", () => {
  it("names folders and files of documents that are there", () => {
    const [, folder = "", file = ""] = /^The documents are in (\S+); (\S+) has an index by task\.$/m.exec(programHelp([])) ?? [];
    assert.ok(existsSync(`${folder}/tutorial.md`), folder);
    assert.ok(existsSync(file), file);
  });

  it("begins with what people need first, and has every command once, in groups", () => {
    const text = programHelp(commands);
    assert.deepEqual(
      [...text.matchAll(/^ {2}signalbox (\S+)/gm)].map(([, name]) => name),
      ["start", "check", "status", "top", "explain"],
    );
    assert.deepEqual(
      text.split("\n").filter((line) => /^(Run|Look|Change what runs|Write plugins|Move in from another router)$/.test(line)),
      ["Run", "Look", "Change what runs", "Write plugins", "Move in from another router"],
    );
    const shown = [...text.matchAll(/^ {2}(?:signalbox )?([a-z][a-z-]+) /gm)].map(([, name]) => name);
    assert.deepEqual(shown.sort(), commands.map(({ name }) => name).sort());
  });

  for (const columns of [60, 80, 110])
    it(`fits ${columns} columns`, () => {
      // Paths of the checkout and details in fixed columns are as long as they are.
      const isFree = (line: string) => !line.startsWith("The documents are in ");
      assert.deepEqual(tooWide(programHelp(commands, columns), columns).filter(isFree), []);
      for (const command of commands) {
        assert.deepEqual(tooWide(shortHelp(command, columns), columns), [], command.name);
        if (command.details === undefined) assert.deepEqual(tooWide(commandHelp(command, columns), columns), [], command.name);
      }
    });

  it("is whole with --all: each command with each of its switches", async () => {
    const text = wholeHelp(commands);
    for (const { name, switches } of commands) {
      assert.ok(text.includes(`\nUsage: signalbox ${name}`), name);
      for (const each of switches) assert.ok(text.includes(`--${each.name}`), `${name} --${each.name}`);
    }
    for (const words of [
      ["--help", "--all"],
      ["help", "--all"],
    ]) {
      const { code, out } = await run(...words);
      assert.equal(code, 0);
      assert.ok(out.includes("Usage: signalbox cordon ENDPOINT"));
    }
  });

  it("of one command is short after the word help", async () => {
    const { code, out } = await run("help", "start");
    assert.equal(code, 0);
    assert.equal(out, shortHelp(named("start")));
    assert.ok(out.split("\n").length < 14);
    assert.match(out, /^Usage: signalbox start \[URL\.\.\.\]\nStarts the router .*\n\n {2}-f, --file[\s\S]*--admin-port N/);
    assert.match((await run("help", "mock")).out, /^Usage: signalbox mock[\s\S]*--fault NAME=VALUE/);
    const mistyped = await run("help", "stauts");
    assert.equal(mistyped.code, 2);
    assert.match(mistyped.err, /no command "stauts".* Did you mean "status"\?/);
  });
});
