import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { configOf, POOL, problemsOf, router } from "../support.ts";

const VARIABLES = { SB_HOST: "gpu7", SB_PORT: "8123", SB_EMPTY: "", SB_YES: "true", SB_YAML: "a: { b" };
before(() => void Object.assign(process.env, VARIABLES));
after(() => {
  for (const name of Object.keys(VARIABLES)) delete process.env[name];
});

const REF = "$" + "{";
const withUrl = (url: string) =>
  configOf(router(`  pool:\n    name: llama\n    endpoints:\n      - url: ${url}\n        name: e\n`));

describe("environment variables in a config", () => {
  const urls: readonly (readonly [written: string, url: string])[] = [
    [`http://${REF}SB_HOST}:${REF}SB_PORT}`, "http://gpu7:8123"],
    [`"http://${REF}SB_HOST}:80${REF}SB_EMPTY:-00}"`, "http://gpu7:8000"],
    [`http://${REF}SB_UNSET:-gpu1}:8000`, "http://gpu1:8000"],
    [`http://gpu1${REF}SB_EMPTY}:8000`, "http://gpu1:8000"],
  ];
  for (const [written, url] of urls) {
    it(written, async () => assert.equal((await withUrl(written)).pool.endpoints[0]?.url, url));
  }

  it("a number or a boolean without quotes, a text with them", async () => {
    const spec = `  listen:\n    port: ${REF}SB_PORT}\n    host: "${REF}SB_UNSET:-0.0.0.0}"\n  responseHeaders: ${REF}SB_YES}\n`;
    const config = await configOf(
      router(`${spec}${POOL.replace("http://gpu1:8000", `http://gpu1:8000, labels: { port: "${REF}SB_PORT}" }`)}`),
    );
    assert.deepEqual(
      [config.listen, config.settings.hasRoutingHeaders],
      [{ host: "0.0.0.0", port: 8123, isPortShared: false }, true],
    );
    assert.deepEqual(config.pool.endpoints[0]?.labels, { port: "8123" });
  });

  it("an unset one hides no mistake elsewhere, and is reported once", async () => {
    const spec = `  listen: { port: 70000 }\n  pool:\n    name: llama\n    endpoints:\n      - url: ${REF}SB_UNSET}\n  lisen: {}\n`;
    assert.deepEqual(
      (await problemsOf(router(spec))).map((text) => text.replace(/;.*/, "")),
      [
        '9:3  spec.lisen  found the unknown key "lisen"',
        "4:19  spec.listen.port  found 70000",
        "8:14  found no environment variable SB_UNSET",
      ],
    );
  });

  it("a value is never read as YAML", async () => {
    const spec = POOL.replace("name: llama", `name: "${REF}SB_YAML}"`);
    assert.equal((await configOf(router(spec))).pool.name, "a: { b");
  });

  it("$${ stands for the characters", async () => {
    const spec = POOL.replace("name: llama", () => `name: "$${REF}SB_HOST}"`);
    assert.equal((await configOf(router(spec))).pool.name, `${REF}SB_HOST}`);
  });

  const refusals: readonly (readonly [name: string, value: string, wanted: string])[] = [
    [
      "an unset variable",
      `"${REF}SB_UNSET}"`,
      `found no environment variable SB_UNSET; wanted a value for it, or a default: ${REF}SB_UNSET:-default}.`,
    ],
    [
      "no name",
      `"${REF}}"`,
      `found ${REF} without a name and a closing }; wanted ${REF}NAME} or ${REF}NAME:-default}. For the characters themselves, write $${REF}.`,
    ],
    [
      "no end",
      `"a${REF}SB_HOST"`,
      `found ${REF} without a name and a closing }; wanted ${REF}NAME} or ${REF}NAME:-default}. For the characters themselves, write $${REF}.`,
    ],
  ];
  for (const [name, value, wanted] of refusals) {
    it(`${name} is a problem at its place`, async () => {
      assert.deepEqual(await problemsOf(router(POOL.replace("name: llama", () => `name: ${value}`))), [`4:17  ${wanted}`]);
    });
  }

  it("inside { } without quotes the problem says how to write it", async () => {
    const [first] = await problemsOf(router(`  listen: { port: ${REF}SB_PORT} }\n${POOL}`));
    assert.match(first ?? "", /^4:\d+ .*invalid YAML.*write a number such as port: \$\{PORT\} on a line of its own\.$/);
  });
});
