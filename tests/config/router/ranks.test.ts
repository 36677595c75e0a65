import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { configOf, problemsOf, router } from "../support.ts";

const poolOf = (endpoints: string) => router(`  pool:\n    endpoints:\n      - ${endpoints}\n`);
const namesOf = async (endpoints: string) =>
  (await configOf(poolOf(endpoints))).pool.endpoints.map(({ name, url }) => `${name} ${url}`);

describe("the ports of data-parallel ranks", () => {
  const cases: readonly [written: string, names: readonly string[]][] = [
    ["{ url: http://gpu1, ports: [8000, 8001] }", ["gpu1-rank-0 http://gpu1:8000", "gpu1-rank-1 http://gpu1:8001"]],
    [
      "{ url: https://gpu1/base/v1/, name: a, ports: [443, 9000] }",
      ["a-rank-0 https://gpu1/base", "a-rank-1 https://gpu1:9000/base"],
    ],
    ['{ url: "http://[fd00::1]", ports: [80] }', ["fd00-1-rank-0 http://[fd00::1]"]],
  ];
  for (const [written, names] of cases) it(written, async () => assert.deepEqual(await namesOf(written), names));

  it("all have the labels of the entry", async () => {
    const { pool } = await configOf(poolOf("{ url: http://gpu1, ports: [1, 2], labels: { zone: a } }"));
    assert.deepEqual(
      pool.endpoints.map(({ labels }) => labels),
      [{ zone: "a" }, { zone: "a" }],
    );
  });

  const refused: readonly [written: string, problem: string][] = [
    [
      "{ url: http://gpu1:8000, ports: [8001] }",
      "6:16  spec.pool.endpoints[0].url  found a URL that can't be used. Beside ports, leave out the port in the URL.",
    ],
    ["{ url: http://gpu1, ports: [] }", "6:36  spec.pool.endpoints[0].ports  found an empty list; wanted at least 1 item."],
    ["{ url: http://gpu1, ports: [80, 80] }", "6:36  spec.pool.endpoints[0].ports  found a list; wanted each port once."],
    ["{ url: http://gpu1, ports: [0] }", "6:37  spec.pool.endpoints[0].ports[0]  found 0; wanted at least 1."],
    [
      "{ url: http://gpu1, port: [80] }",
      '6:29  spec.pool.endpoints[0].port  found the unknown key "port"; wanted one of: url, ports, name, labels, auth, tls. Did you mean "ports"?',
    ],
  ];
  for (const [written, problem] of refused)
    it(`refused: ${written}`, async () => assert.deepEqual(await problemsOf(poolOf(written)), [problem]));

  it("refused: a rank that is an endpoint already", async () => {
    const text = poolOf("{ url: http://gpu1, ports: [8000] }\n      - { url: http://gpu1:8000, name: other }");
    assert.deepEqual(await problemsOf(text), [
      '7:16  spec.pool.endpoints[1].url  found the endpoint "http://gpu1:8000" a second time; wanted each once.',
    ]);
  });
});
