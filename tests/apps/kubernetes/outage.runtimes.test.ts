import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, describe, it } from "node:test";
import { KubernetesClient } from "../../../apps/kubernetes/client.ts";
import type { Credentials } from "../../../apps/kubernetes/identity.ts";
import { KubernetesError } from "../../../apps/kubernetes/kubernetes-error.ts";
import { Outage } from "../../../apps/kubernetes/outage.ts";
import { systemClock } from "../../../core/contract/clock.ts";
import { startBlackHole } from "../../support/black-hole.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";
import { waitUntil } from "../../support/router.ts";

const NOBODY = new KubernetesError(0, "", "refused", { isUnconnected: true });
const status = (code: number, retryAfterMs?: number) => new KubernetesError(code, "", "", { retryAfterMs });

/** An outage of a server that gives these answers to whether it is ready, then says yes. */
function setUp(...answers: readonly (Error | undefined)[]) {
  const clock = new FakeClock();
  const asked: number[] = [];
  const left = [...answers];
  const outage = new Outage(
    async () => {
      asked.push(clock.now());
      const answer = left.shift();
      if (answer !== undefined) throw answer;
    },
    clock,
    () => 1,
  );
  outage.begin();
  const over: number[] = [];
  const wait = (signal?: AbortSignal) => void outage.over(signal).then(() => over.push(clock.now()));
  return { clock, asked, outage, over, wait };
}

describe("an outage of the API server", () => {
  it("ends for all that wait at once, as soon as the server is ready; one of them asks, each second at least", async () => {
    const { clock, asked, over, wait, outage } = setUp(NOBODY, NOBODY, status(500), status(503));
    for (let each = 0; each < 7; each++) wait();
    await clock.advance(2_900);
    assert.deepEqual(over, []);
    await clock.advance(1_100);
    assert.equal(new Set(over).size, 1);
    assert.equal(over.length, 7);
    assert.equal(asked.length, 5);
    for (const [index, atMs] of asked.slice(1).entries()) assert.ok(atMs - (asked[index] ?? 0) <= 1_000);
    await outage.over(undefined);
    assert.equal(asked.length, 5, "nobody asks once it is over");
  });

  for (const [what, answer, waitMs] of [
    ["has no such question", status(404), 0],
    ["may not be asked", status(403), 0],
    ["does not know who asks", status(401), 0],
    ["asks to be left alone", status(429, 2_000), 2_500],
  ] as const) {
    it(`is over after ${waitMs} ms where a server ${what}`, async () => {
      const { clock, over, wait } = setUp(answer);
      wait();
      await clock.advance(10_000);
      assert.deepEqual(over, [waitMs]);
    });
  }

  it("does not last while a server serves that never says that it is ready, but as long as nobody listens", async () => {
    const ill = setUp(...Array.from({ length: 1_000 }, () => status(500)));
    ill.wait();
    await ill.clock.advance(40_000);
    assert.equal(ill.over.length, 1);
    const gone = setUp(...Array.from({ length: 1_000 }, () => NOBODY));
    gone.wait();
    await gone.clock.advance(600_000);
    assert.equal(gone.over.length, 0);
  });

  it("is asked about by nobody once all have left, and again by the next one", async () => {
    const { clock, asked, over, wait } = setUp(NOBODY, NOBODY, NOBODY);
    const leaving = new AbortController();
    wait(leaving.signal);
    await clock.advance(900);
    leaving.abort();
    await settle();
    assert.deepEqual([over.length, clock.pending], [1, 0]);
    const before = asked.length;
    await clock.advance(60_000);
    assert.equal(asked.length, before);
    wait();
    await clock.advance(5_000);
    assert.equal(over.length, 2);
  });
});

describe("a client of a server that goes away", () => {
  const clientOf = (url: string, clock = systemClock) => {
    const credentials: Credentials = {
      server: new URL(url),
      serverName: "",
      isVerified: true,
      namespace: "default",
      from: "the test",
      identity: async () => ({}),
      forget: () => false,
    };
    return new KubernetesClient(credentials, clock, () => 0);
  };

  /** At this port; 0 for a free one. */
  async function serve(port: number, paths: string[], isReady: () => boolean) {
    const server = createServer(({ url = "" }, response) => {
      paths.push(url);
      if (url === "/readyz" && !isReady()) response.writeHead(500).end("not ready");
      else response.end("{}");
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    const close = () => {
      server.closeAllConnections();
      server.close();
    };
    after(close);
    return { close, port: (server.address() as AddressInfo).port };
  }

  it("goes on as soon as it is ready again, and asks for nothing else before", { timeout: 30_000 }, async () => {
    const paths: string[] = [];
    const first = await serve(0, paths, () => true);
    const client = clientOf(`http://127.0.0.1:${first.port}`);
    await client.request("GET", "/one");
    await client.request("GET", "/two");
    assert.deepEqual(paths, ["/one", "/two"], "a server that is there is not asked whether it is ready");
    first.close();
    await assert.rejects(client.request("GET", "/three"), ({ isUnconnected }: KubernetesError) => isUnconnected);
    const asked = [client.request("GET", "/four"), client.request("GET", "/five")];
    let isReady = false;
    const later: string[] = [];
    await serve(first.port, later, () => isReady);
    await waitUntil(() => later.length > 1);
    assert.deepEqual(new Set(later), new Set(["/readyz"]));
    isReady = true;
    await Promise.all(asked);
    assert.deepEqual(later.filter((path) => path !== "/readyz").sort(), ["/five", "/four"]);
  });

  it("gives up a connection that is neither accepted nor refused within seconds", { timeout: 60_000 }, async () => {
    const hole = await startBlackHole();
    after(() => hole.close());
    await hole.swallow();
    const clock = new FakeClock();
    const asked = clientOf(hole.url, clock).request("GET", "/one");
    const refused = assert.rejects(asked, ({ isUnconnected, message }: KubernetesError) => {
      return isUnconnected && /no connection for 3 s/.test(message);
    });
    await waitUntil(() => clock.pending > 0);
    await clock.advance(3_000);
    await refused;
  });
});
