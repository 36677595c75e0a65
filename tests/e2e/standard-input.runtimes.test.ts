/** Configs that come from the standard input. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { killAll, type Running, signalboxReading } from "../support/cli.ts";
import { waitUntil } from "../support/router.ts";

const TIMEOUT = { timeout: 60_000 };
after(killAll);

const router = (spec: string) => `apiVersion: signalbox/v1\nkind: Router\nspec:\n${spec}`;
const POOL = "  pool: { endpoints: [ { url: http://127.0.0.1:2 } ] }\n";

async function ended({ output, ended: end }: Running) {
  return { code: await end, ...output };
}

describe("- in place of a file is the standard input", () => {
  it("check names its problems, and reads what lies beside it in this folder", TIMEOUT, async () => {
    const good = router(`${POOL}  plugins: [ { from: ./examples/plugins/filter/plugin.ts } ]\n`);
    const [wrong, right] = await Promise.all([
      ended(signalboxReading(router(`${POOL}  lisen: {}\n`), "check", "-f", "-")),
      ended(signalboxReading(good, "check", "-f", "-")),
    ]);
    assert.equal(wrong.code, 1);
    assert.match(wrong.out, /^\/dev\/stdin:5:3 {2}spec\.lisen {2}found the unknown key "lisen"/);
    assert.deepEqual([right.code, right.out.split("\n")[0]], [0, "The config is valid."]);
  });

  it("config fmt writes it formatted to the standard output", TIMEOUT, async () => {
    const { code, out } = await ended(signalboxReading(router("  pool:   { }\n"), "config", "fmt", "-"));
    assert.deepEqual([code, out], [0, router("  pool: {}\n")]);
  });

  it("start runs with it, and keeps it when the files are read again", TIMEOUT, async () => {
    const text = router(`  listen: { port: 0 }\n  admin: { port: 0 }\n${POOL}`);
    const { child, output, ended: end } = signalboxReading(text, "start", "-f", "-");
    const says = (text: string) => waitUntil(() => (output.out + output.err).includes(text));
    await says("is listening on");
    // Deno's own kill sends one signal only.
    process.kill(child.pid!, "SIGHUP");
    await says("The config was read again: nothing in it is different");
    process.kill(child.pid!, "SIGTERM");
    assert.equal(await end, 0, output.err);
  });
});
