import assert from "node:assert/strict";
import { it } from "node:test";
import { claimPort } from "../../../../../apps/cli/start/workers/claim-port.ts";

const address = { host: "127.0.0.1", port: 0, isPortShared: false, tls: undefined };

it("a port that a program has claimed is not claimed again, also before a worker listens", async () => {
  const { port, release } = await claimPort(address);
  const again = claimPort({ ...address, port });
  if (process.platform === "linux") await assert.rejects(again, new RegExp(`^Error: 127\\.0\\.0\\.1:${port} is in use.*--port`));
  else assert.equal((await again).port, port);
  assert.equal((await claimPort({ ...address, port, isPortShared: true })).port, port);
  release();
  const next = await claimPort({ ...address, port });
  next.release();
});
