import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { asCalledBy, type Caller, programName } from "../../../../apps/cli/frame/as-called.ts";
import { run } from "../../../support/cli.ts";

const NODE = { node: "20.19.0" };
const DENO = { node: "24.0.0", deno: "2.9.0" };
const BUN = { node: "24.0.0", bun: "1.4.0" };
const SOURCE = "/home/ada/signalbox/apps/cli/signalbox.mjs";
const LINKED = "/home/ada/app/node_modules/.bin/signalbox";

const caller = (
  file: string,
  env: Caller["env"] = {},
  versions: Caller["versions"] = NODE,
  cwd = "/home/ada/signalbox",
): Caller => ({
  argv: ["/usr/bin/node", file],
  env,
  versions,
  cwd,
});
const by = (agent: string, script?: string, more: Caller["env"] = {}) => ({
  npm_config_user_agent: `${agent}/11.0.0 npm/? node/v24`,
  npm_lifecycle_event: script,
  ...more,
});

describe("how the program was called", () => {
  const rows: readonly (readonly [name: string, called: Caller])[] = [
    ["signalbox", caller("/usr/local/bin/signalbox")],
    ["npx signalbox", caller(LINKED, by("npm", "npx"))],
    ["bunx signalbox", caller(LINKED, by("bun", "bunx"), BUN)],
    // Within a script of somebody's package.json.
    ["npx signalbox", caller(LINKED, by("npm", "route"))],
    ["bunx signalbox", caller(LINKED, by("bun", "start"), BUN)],
    ["pnpm exec signalbox", caller(LINKED, by("pnpm", "start"))],
    ["npm run signalbox --", caller(SOURCE, by("npm", "signalbox"))],
    ["npm run signalbox --", caller(SOURCE, by("npm", "start"))],
    ["bun run signalbox", caller(SOURCE, by("bun", "signalbox"))],
    ["deno task signalbox", caller(SOURCE, by("deno", undefined, { INIT_CWD: "/home/ada/signalbox" }), DENO)],
    ["deno run -A npm:signalbox", caller("/home/ada/.cache/deno/npm/signalbox/apps/cli/bin.mjs", by("deno"), DENO)],
    ["node apps/cli/signalbox.mjs", caller(SOURCE)],
    ["bun apps/cli/signalbox.mjs", caller(SOURCE, {}, BUN)],
    ["deno run -A apps/cli/signalbox.mjs", caller(SOURCE, {}, DENO)],
    [`node ${SOURCE}`, caller(SOURCE, {}, NODE, "/srv")],
    ["node 'my router/signalbox.mjs'", caller("/home/ada/signalbox/my router/signalbox.mjs")],
    // A test, or a program of somebody's that has this one in it.
    ["signalbox", caller("/home/ada/signalbox/tests/run.ts", by("npm", "test"))],
    ["signalbox", { ...caller(""), argv: ["/opt/signalbox"] }],
  ];
  for (const [name, called] of rows) it(`${name}, by ${called.argv[1]}`, () => assert.equal(programName(called), name));
});

describe("the commands in a text", () => {
  const commands = [
    { name: "status", switches: [{ name: "admin", value: "URL", meaning: "" }] },
    { name: "check", switches: [] },
  ];
  const text =
    'See "signalbox status --all", signalbox check -f signalbox.yaml; Signalbox, /opt/signalbox status, signalbox statuses';
  const ADMIN = "http://127.0.0.1:9191";
  const rows: readonly (readonly [name: string, file: string, argv: readonly string[], env: Caller["env"], text: string])[] = [
    ["stay as they are", "/bin/signalbox", ["status"], {}, text],
    ["stay as they are at the usual port", "/bin/signalbox", ["status", "--admin", "http://127.0.0.1:9090"], {}, text],
    [
      "name the router that was asked",
      "/bin/signalbox",
      ["top", "--admin", ADMIN],
      {},
      text.replace('"signalbox status', `"signalbox status --admin ${ADMIN}`),
    ],
    [
      "are written as the program was called",
      SOURCE,
      ["top", `--admin=${ADMIN}`],
      by("npm", "signalbox"),
      text
        .replace('"signalbox status', `"npm run signalbox -- status --admin ${ADMIN}`)
        .replace("signalbox check", "npm run signalbox -- check"),
    ],
    ["leave out what the shell's variable says", "/bin/signalbox", ["top", "--admin", ADMIN], { SIGNALBOX_ADMIN: ADMIN }, text],
  ];
  for (const [name, file, argv, env, wanted] of rows)
    it(name, () => assert.equal(asCalledBy(caller(file, env), commands, argv)(text), wanted));
});

it("a hint of a command names the router that was asked", async () => {
  const { err } = await run("drain", "--admin", "http://127.0.0.1:1");
  assert.match(err, /: signalbox drain --admin http:\/\/127\.0\.0\.1:1 gpu1-8000$/m);
});
