import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runMock } from "../../../../apps/cli/commands/mock.ts";
import { CommandError } from "../../../../config/command.ts";

async function run(...argv: string[]) {
  const printed: string[] = [];
  const result = await runMock(argv, (text) => printed.push(text));
  return { result, text: printed.join("\n") };
}

async function failure(...argv: string[]): Promise<CommandError> {
  const error = await run(...argv).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof CommandError);
  return error;
}

describe("signalbox mock", () => {
  test("starts a replica with its arguments and prints its address", async () => {
    const flags = ["--port", "0", "--model", "llama", "--adapters", "a,b", "--time-scale", "0", "--kv-tokens", "2048"];
    const { result, text } = await run(...flags, "--fault", 'status={"value":503,"times":1}', "--fault", "slowMs=1");
    assert.ok(result);
    const replica = result;
    try {
      assert.equal(text, `Mock replica of llama at ${replica.url}`);
      assert.match(replica.url, /^http:\/\/127\.0\.0\.1:\d+$/);
      const list = (await (await fetch(`${replica.url}/v1/models`)).json()) as { data: { id: string; max_model_len: number }[] };
      assert.deepEqual(
        list.data.map((card) => card.id),
        ["llama", "a", "b"],
      );
      assert.equal(list.data[0]?.max_model_len, 2048);
      assert.deepEqual(Object.keys(replica.faults.show()), ["status", "slowMs"]);
    } finally {
      await replica.close();
    }
  });

  test("starts one of a pair", async () => {
    const flags = [
      "--port",
      "0",
      "--role",
      "prefill",
      "--hold-ms",
      "480000",
      "--transfer-host",
      "prefill-0",
      "--time-scale",
      "0",
    ];
    const { result } = await run(...flags);
    assert.ok(result);
    try {
      const body = JSON.stringify({ prompt: "hello", max_tokens: 1, kv_transfer_params: { do_remote_decode: true } });
      const init = { method: "POST", headers: { "content-type": "application/json" }, body };
      const answer = (await (await fetch(`${result.url}/v1/completions`, init)).json()) as {
        kv_transfer_params: Record<string, unknown>;
      };
      assert.equal(answer.kv_transfer_params["remote_host"], "prefill-0");
      assert.equal(result.transfers.held.count, 1);
    } finally {
      await result.close();
    }
  });

  test("--help lists the switches", async () => {
    const { result, text } = await run("--help");
    assert.equal(result, undefined);
    for (const word of ["--port", "--time-scale", "silentAfterEvents", "/mock/faults"]) assert.ok(text.includes(word));
  });

  const WRONG = [
    { argv: ["--nonsense"], says: /Unknown option '--nonsense'/ },
    { argv: ["--prot", "1"], says: /Did you mean "--port"\?/ },
    { argv: ["surplus"], says: /switches alone, not "surplus"/ },
    { argv: ["--port"], says: /--port .*missing/ },
    { argv: ["--port", "70000"], says: /--port takes a whole number from 0 to 65535/ },
    { argv: ["--port", "1.5"], says: /--port/ },
    { argv: ["--time-scale", "fast"], says: /--time-scale/ },
    { argv: ["--kv-tokens", ""], says: /--kv-tokens/ },
    { argv: ["--model", ""], says: /--model/ },
    { argv: ["--role", "decoder"], says: /--role takes one of prefill, decode, both/ },
    { argv: ["--transfer", "nixI"], says: /--transfer takes one of none, nixl/ },
    { argv: ["--transfer", "sglang"], says: /needs --role prefill or --role decode/ },
    { argv: ["--transfer", "side-car", "--role", "prefill"], says: /--transfer nixl, or --role decode/ },
    { argv: ["--transfer", "none", "--role", "prefill"], says: /--role needs a --transfer/ },
    { argv: ["--transfer-tokens-per-s", "0"], says: /--transfer-tokens-per-s/ },
    { argv: ["--hold-ms", "-1"], says: /--hold-ms/ },
    { argv: ["--port", "0", "--fault", "nonsense"], says: /no such fault/ },
    { argv: ["--port", "0", "--fault", "status=x"], says: /JSON/ },
    { argv: ["--port", "0", "--fault", "hang=1"], says: /hang takes true/ },
  ];
  for (const { argv, says } of WRONG) {
    test(`${argv.join(" ")} is a usage error`, async () => {
      const error = await failure(...argv);
      assert.equal(error.exitCode, 2);
      assert.match(error.message, says);
      assert.match(error.message, /signalbox mock --help/);
    });
  }

  test("a port in use is reported", async () => {
    const first = await run("--port", "0");
    assert.ok(first.result);
    try {
      const error = await failure("--port", String(first.result.port));
      assert.equal(error.exitCode, 1);
      const { port } = first.result;
      const said = `127.0.0.1:${port} is in use by another HTTP server; stop what listens there or choose another with --port: `;
      assert.ok(error.message.startsWith(said), error.message);
      assert.match(error.message, /: \d+ is free\.$/);
      const other = await failure("--port", "0", "--bootstrap-port", String(port));
      assert.match(other.message, new RegExp(`^127\\.0\\.0\\.1:${port} is in use .* choose another with --bootstrap-port: `));
    } finally {
      await first.result.close();
    }
  });

  test("an address of another machine is reported", async () => {
    const error = await failure("--port", "0", "--host", "192.0.2.1");
    assert.equal(error.exitCode, 1);
    assert.equal(error.message, "192.0.2.1 is not an address of this machine; check --host.");
  });
});
