/** Adapters that a real vLLM loads with its file-system resolver, when the router first asks for them. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it, test } from "node:test";
import { liveAdapterLife } from "../support/adapter-life.ts";
import { type RealVllm, startVllm, vllmDir, vllmNames } from "../support/real-vllm.ts";

const PORT = 8161;

const dir = vllmDir();
if (dir === undefined) test("adapters of a real vLLM", (t) => t.skip("SIGNALBOX_VLLM names no folder with venv/bin/vllm"));
else {
  describe("adapters of a real vLLM with the file-system resolver", () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-adapters-"));
    let vllm: RealVllm;

    before(
      async () => {
        mkdirSync(folder, { recursive: true });
        vllm = await startVllm({ dir, port: PORT, adapterFolder: folder });
      },
      { timeout: 450_000 },
    );
    after(async () => {
      await vllm?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it("empty list, first adapter, 90/10, 50/50, cutover, folder removed, unload", { timeout: 120_000 }, () =>
      liveAdapterLife({
        urls: [vllm.url],
        base: vllmNames(dir).base,
        put: (name) => cpSync(join(dir, "model", "lora", name), join(folder, name), { recursive: true }),
        remove: (name) => rmSync(join(folder, name), { recursive: true }),
      }),
    );
  });
}
