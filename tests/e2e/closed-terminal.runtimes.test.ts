import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, describe, it } from "node:test";
import { until } from "../support/cli.ts";
import { programOnThisRuntime } from "../support/own-runtime.ts";
import { closeTerminals, inTerminal, NO_TERMINAL } from "../support/terminal.ts";

const TIMEOUT = { timeout: 60_000 };
const SIGHUP = 1;

after(closeTerminals);

describe("a terminal that is closed", { skip: NO_TERMINAL }, () => {
  const rows = [
    ["start", "http://127.0.0.1:1", "--port", "0"],
    ["epp", "http://127.0.0.1:1", "--grpc-port", "0"],
    ["dev", "-f", "examples/quickstart.yaml", "--port", "0"],
  ];
  for (const words of rows) {
    it(`stops ${words[0]} as SIGTERM does; SIGHUP while it is open reads the config again`, TIMEOUT, async () => {
      const terminal = inTerminal(100, 30, ...words, "--admin-port", "0");
      await until(() => /Status page: /.test(terminal.text));
      terminal.send(SIGHUP);
      await until(() => /cause="signal"/.test(terminal.text));
      terminal.close();
      await until(() => /exit 0/.test(terminal.text));
    });
  }
});

describe("a reader that leaves after the first byte", () => {
  // The text must not fit into a pipe, or the writer would not notice.
  const rows = [["schema"], ["schema", "-f", "examples/quickstart.yaml"]];
  for (const words of rows) {
    it(`${words.join(" ")} ends quietly`, TIMEOUT, async () => {
      const { command, args } = programOnThisRuntime();
      // A pipe of the shell: what a test's own spawn makes may be a socket that holds the whole text.
      const line = ["-c", '{ "$0" "$@"; echo "exit code $?" >&2; } | head -c 1', command, ...args, ...words];
      const child = spawn("/bin/sh", line, { stdio: ["ignore", "ignore", "pipe"] });
      let errors = "";
      child.stderr.on("data", (chunk: Buffer) => {
        errors += chunk.toString();
      });
      await new Promise((resolve) => child.on("close", resolve));
      assert.equal(errors, "exit code 141\n");
    });
  }
});
