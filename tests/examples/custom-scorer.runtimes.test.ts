import assert from "node:assert/strict";
import { after, it } from "node:test";
import { createRouter } from "../../apps/fetch.ts";
import { startMockReplica } from "../../apps/lab/mock/replica.ts";
import { CHAT, chatBody, postRequest } from "../support/fetch-router.ts";
import { examplePath, exampleText } from "./example-files.ts";
import "../../examples/custom-scorer.test.ts";

it("custom-scorer.yaml sends idle traffic to the newest GPU", async () => {
  const replicas = await Promise.all([1, 2, 3].map(() => startMockReplica({ model: "m", timeScale: 0 })));
  // The labels are in reverse order, so that the first endpoint in the list is not the best.
  const text = exampleText("custom-scorer.yaml", replicas.map(({ url }) => url).reverse()).replace(
    "from: ./custom-scorer.ts",
    `from: ${JSON.stringify(examplePath("custom-scorer.ts"))}`,
  );
  const router = await createRouter({ text });
  after(async () => {
    router.close();
    await Promise.all(replicas.map((replica) => replica.close()));
  });
  for (let tries = 0; tries < 1000 && !(await everyoneIsReady(router)); tries++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  const h100 = new URL(replicas[2]!.url).host.replace(":", "-");
  for (let i = 0; i < 5; i++) {
    const response = await router.fetch(postRequest(CHAT, chatBody(`,"max_tokens":1,"seed":${i}`)));
    await response.text();
    assert.equal(response.headers.get("x-signalbox-endpoint"), h100);
  }
});

async function everyoneIsReady(router: Awaited<ReturnType<typeof createRouter>>): Promise<boolean> {
  const counts = (await (await router.fetch(new Request("http://router/ready"))).json()) as { ready: number; endpoints: number };
  return counts.endpoints === 3 && counts.ready === 3;
}
