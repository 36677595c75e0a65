import assert from "node:assert/strict";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { it } from "node:test";
import { withClients } from "./client.ts";

/** An address that nobody has. */
const ELSEWHERE = "192.0.2.1";

withClients("the network of the clients", () => {
  it("has a loopback alone", {
    skip: process.env["SIGNALBOX_CLIENTS_INSIDE"] !== "namespace" && "not in a namespace",
  }, async () => {
    assert.deepEqual(Object.keys(networkInterfaces()), ["lo"]);
    const reason = await new Promise((resolve) => {
      const socket = connect(443, ELSEWHERE);
      socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code));
      socket.once("connect", () => resolve("connected"));
    });
    assert.equal(reason, "ENETUNREACH");
  });
});
