import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { it } from "node:test";
import { run as runCommand } from "../support/cli.ts";
import { startReloadingRouter } from "../support/reloading.ts";

const FILE = "signalbox.yaml";
const textWith = (retries: number, comment = "") => `apiVersion: signalbox/v1
kind: Router
spec:
  limits: { retries: ${retries} } # ${comment}
  pool: { endpoints: [{ url: "http://127.0.0.1:9" }] }
`;

it("config history and config rollback go back over a router's files, as operators expect", { timeout: 60_000 }, async () => {
  const { write, process: router, status, at, untilGeneration } = await startReloadingRouter({ [FILE]: textWith(1, "first") });
  const run = (...argv: string[]) => runCommand(...argv, "--admin", `http://127.0.0.1:${router.adminPort}`);
  const retries = async () => {
    const shown = JSON.parse((await run("config", "print", "--json")).out) as {
      router: { spec: { limits: { retries: number } } };
    };
    return shown.router.spec.limits.retries;
  };
  write(FILE, textWith(2));
  await untilGeneration(2);
  write(FILE, textWith(3));
  assert.equal((await run("reload")).code, 0);

  const back = await run("config", "rollback");
  assert.equal(back.code, 0, back.err);
  assert.match(back.out, /^Generation 2 runs: it is generation 4 now\n.*retries.*\nThe files stay as they are/s);
  assert.equal(await retries(), 2);
  assert.equal((await run("config", "rollback")).code, 0);
  assert.equal(await retries(), 1);
  const none = await run("config", "rollback");
  assert.deepEqual([none.code, none.out], [1, ""]);
  assert.match(none.err, /No earlier config is kept/);
  assert.equal(readFileSync(at(FILE), "utf8"), textWith(3));
  const { warnings } = await status();
  assert.match(warnings.join("\n"), /Generation 1 of the config runs instead of what the files say.*rollback 5 --write/);
  const { out } = await run("config", "history");
  assert.match(out, /^\* 5 {2}\S+ {2}back to 1, by 127\.0\.0\.1/m);
  assert.match(out, /^ {2}2 {2}\S+ {2}files$/m);

  const written = await run("config", "rollback", "2", "--write");
  assert.match(written.out, /written to .*signalbox\.yaml/);
  assert.deepEqual([readFileSync(at(FILE), "utf8"), await retries()], [textWith(2), 2]);

  const typos = [
    { words: ["rollback", "two"], code: 2, says: /GENERATION wants a whole number/ },
    { words: ["rollback", "-1"], code: 2, says: /lists the switches/ },
    { words: ["rollback", "1", "2"], code: 2, says: /config rollback \[GENERATION\]/ },
    { words: ["rollback", "77"], code: 2, says: /not kept; there are 1, 2, 3/ },
    { words: ["history", "3"], code: 2, says: /config history/ },
    { words: ["rolback"], code: 2, says: /Did you mean "rollback"\?/ },
  ];
  for (const { words, code, says } of typos) {
    const { code: ended, err } = await run("config", ...words);
    assert.equal(ended, code, words.join(" "));
    assert.match(err, says);
  }
  assert.equal(await retries(), 2);
});
