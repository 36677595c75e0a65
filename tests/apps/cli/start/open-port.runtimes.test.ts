import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { warnOfOpenPort } from "../../../../apps/cli/start/open-port.ts";
import { collectedLog } from "../../../support/collected-log.ts";

describe("a port for clients", () => {
  const rows: readonly (readonly [host: string, adaptersByClients: boolean, isTold: boolean, asksForKeys?: boolean])[] = [
    ["0.0.0.0", true, true],
    ["::", true, true],
    ["10.0.0.7", true, true],
    ["router.example", true, true],
    ["0.0.0.0", false, false],
    ["0.0.0.0", true, false, true],
    ["127.0.0.1", true, false],
    ["::1", true, false],
    ["localhost", true, false],
  ];
  for (const [host, adaptersByClients, isTold, asksForKeys = false] of rows) {
    it(`at ${host}, ${adaptersByClients ? "where" : "but not where"} clients may change adapters${asksForKeys ? " with a key" : ""}: ${isTold ? "a" : "no"} warning`, () => {
      const log = collectedLog();
      warnOfOpenPort(host, adaptersByClients, asksForKeys, log);
      assert.equal(log.lines.length, isTold ? 1 : 0);
      if (isTold) assert.match(log.lines[0]!, /^warning: Everyone who reaches this port can .*byClients: false/);
    });
  }
});
