import assert from "node:assert/strict";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { it } from "node:test";
import { withClients } from "./client.ts";

/** An address that nobody has. */
const ELSEWHERE = "192.0.2.1";

withClients("the network of the clients", () => {
  it("has a loopback alone, or where that is not permitted a proxy that is not there", async () => {
    if (process.env["SIGNALBOX_CLIENTS_INSIDE"] !== "namespace") {
      assert.equal(await errorOf(9, "127.0.0.1"), "ECONNREFUSED");
      for (const name of ["http_proxy", "https_proxy"]) assert.equal(process.env[name], "http://127.0.0.1:9");
      return;
    }
    assert.deepEqual(Object.keys(networkInterfaces()), ["lo"]);
    assert.equal(await errorOf(443, ELSEWHERE), "ENETUNREACH");
  });
});

function errorOf(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
    socket.once("connect", () => {
      socket.destroy();
      resolve(undefined);
    });
  });
}
