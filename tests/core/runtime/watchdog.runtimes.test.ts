import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { it } from "node:test";
import { onThisRuntime } from "../../support/own-runtime.ts";

const PROGRAM = join(import.meta.dirname ?? ".", "../../support/starved-process.ts");
const HAS_TOOLS = process.platform === "linux" && spawnSync("taskset", ["--version"]).status === 0;

it("a main thread that gets no processor is no fault of the code", { skip: !HAS_TOOLS, timeout: 120_000 }, async () => {
  const { command, args } = onThisRuntime(PROGRAM);
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  await once(child.stdout, "data");
  // The main thread alone is to share one processor with a program that takes nearly all of it.
  spawnSync("taskset", ["--pid", "1", String(child.pid)]);
  spawnSync("renice", ["--priority", "12", "--pid", String(child.pid)]);
  const greedy = spawn("taskset", ["1", "sh", "-c", "while :; do :; done"], { stdio: "ignore" });
  try {
    child.stdin.write("go\n");
    const [code] = await once(child, "exit");
    assert.equal(code, 0, errors);
    assert.match(errors, /The program gets no processor[\s\S]*The program runs again/);
    assert.doesNotMatch(errors, /Nothing runs any more/);
  } finally {
    greedy.kill("SIGKILL");
    child.kill("SIGKILL");
  }
});
