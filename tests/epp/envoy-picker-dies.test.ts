import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { killAll, type Running, signalbox, until } from "../support/cli.ts";
import { type EnvoyOptions, type EnvoyProcess, HAS_ENVOY, startEnvoy } from "../support/envoy.ts";

/** How often a request is sent while Envoy finds out; one each 50 ms. */
const MOST_TRIES = 200;

describe("a real Envoy whose picker dies", { skip: !HAS_ENVOY }, () => {
  let replicas: readonly MockReplica[] = [];
  let envoy: EnvoyProcess | undefined;
  beforeEach(async () => {
    replicas = await Promise.all([1, 2].map(() => startMockReplica({ model: "m", replyTokens: 100 })));
  });
  afterEach(async () => {
    await envoy?.stop();
    envoy = undefined;
    killAll();
    await Promise.all(replicas.map((replica) => replica.close()));
  });

  async function picker(): Promise<{ readonly running: Running; readonly port: number }> {
    const running = signalbox("epp", ...replicas.map(({ url }) => url), "--grpc-port", "0", "--admin-port", "0");
    await until(() => running.output.err.includes("2 of 2 replicas ready"));
    return { running, port: Number(/grpc:\/\/127\.0\.0\.1:(\d+)/.exec(running.output.err)?.[1]) };
  }
  const kill = async ({ running }: { readonly running: Running }) => {
    running.child.kill("SIGKILL");
    await running.ended;
  };
  const start = async (options: EnvoyOptions) => {
    envoy = await startEnvoy({ ...options, listed: [replicas[0]!.port, replicas[1]!.port] });
    return envoy;
  };
  const post = ({ url }: EnvoyProcess, stream: boolean, headers: Readonly<Record<string, string>> = {}) => {
    const body = { model: "m", max_tokens: stream ? 100 : 1, stream, messages: [{ role: "user", content: "Soup?" }] };
    const all = { "content-type": "application/json", ...headers };
    return fetch(`${url}/v1/chat/completions`, { method: "POST", headers: all, body: JSON.stringify(body) });
  };
  const status = async (response: Promise<Response>) => {
    const got = await response;
    await got.text();
    return got.status;
  };
  /** Streams whose first bytes have come; each resolves to whether it came whole. */
  async function begunStreams(from: EnvoyProcess): Promise<readonly Promise<boolean>[]> {
    const responses = await Promise.all([1, 2, 3].map(() => post(from, true)));
    return responses.map((response) =>
      response.text().then(
        (text) => text.endsWith("data: [DONE]\n\n"),
        () => false,
      ),
    );
  }

  it("two pickers: streams of the dead one are cut, and the next requests go to the second one", async () => {
    const first = await picker();
    const second = await picker();
    const pair = await start({ pickerPort: first.port, secondPort: second.port });
    assert.equal(await status(post(pair, false)), 200);
    const streams = await begunStreams(pair);
    await kill(first);
    assert.deepEqual(await Promise.all(streams), [false, false, false]);
    for (let i = 0; i < MOST_TRIES && (await status(post(pair, false))) !== 200; i++) await new Promise((r) => setTimeout(r, 50));
    const after: number[] = [];
    for (let i = 0; i < 10; i++) after.push(await status(post(pair, false)));
    assert.deepEqual([...new Set(after)], [200]);
  });

  it("two pickers: the first keeps its requests though it twice does not run for nearly two seconds", async () => {
    const first = await picker();
    const second = await picker();
    const pair = await start({ pickerPort: first.port, secondPort: second.port });
    for (let pause = 0; pause < 2; pause++) {
      first.running.child.kill("SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, 1_900));
      first.running.child.kill("SIGCONT");
      assert.equal(await status(post(pair, false)), 200);
    }
    const served = ({ running }: { readonly running: Running }) =>
      running.output.out.split("\n").filter((line) => line !== "").length;
    await until(() => served(first) === 2);
    assert.equal(served(second), 0);
  });

  it("fail-open does nothing for bodies that are FULL_DUPLEX_STREAMED", async () => {
    const only = await picker();
    const open = await start({ pickerPort: only.port, isOpen: true });
    const streams = await begunStreams(open);
    await kill(only);
    assert.deepEqual(await Promise.all(streams), [false, false, false]);
    assert.equal(await status(post(open, false)), 500);
  });

  it("fail-open with BUFFERED and STREAMED bodies: streams go on; a cluster of listed replicas serves in turn", async () => {
    const only = await picker();
    const modes = ["BUFFERED", "STREAMED"] as const;
    const open = await start({ pickerPort: only.port, isOpen: true, modes, cluster: "listed-replicas" });
    const streams = await begunStreams(open);
    await kill(only);
    assert.deepEqual(await Promise.all(streams), [true, true, true]);
    assert.equal(await status(post(open, false)), 200);
  });

  it("fail-open with an ORIGINAL_DST cluster: nothing is served, but a client that names a destination gets there", async () => {
    const only = await picker();
    const open = await start({ pickerPort: only.port, isOpen: true, modes: ["BUFFERED", "STREAMED"] });
    await kill(only);
    assert.equal(await status(post(open, false)), 503);
    const header = { "x-gateway-destination-endpoint": `127.0.0.1:${replicas[0]!.port}` };
    assert.equal(await status(post(open, false, header)), 200);
  });
});
