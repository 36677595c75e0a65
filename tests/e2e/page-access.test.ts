import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { noBrowser, showPage } from "../support/browser.ts";
import { poolDocument } from "../support/pools.ts";
import { configOver, rewriteTo } from "../support/reloading.ts";
import { LIMIT, opened, PageRouters, pageOf, rowOf, stateOf } from "./page-routers.ts";

const routers = new PageRouters();
let replicas: readonly MockReplica[];

before(async () => {
  if (!noBrowser)
    replicas = await Promise.all([1, 2].map(() => startMockReplica({ model: "base", adapters: ["v1"], timeScale: 0 })));
});
after(async () => {
  if (!noBrowser) await Promise.all(replicas.map((replica) => replica.close()));
});

describe("where changes are not for everyone", LIMIT, () => {
  it("a read-only port offers none, and says why", async () => {
    const config = configOver({ only: replicas[0]!.url }, "  admin: { readOnly: true }\n");
    const { page, problems } = await showPage(
      routers.browser,
      pageOf(await routers.start(`${config}---\n${rewriteTo({ v1: 1 })}`)),
    );
    await page.getByText("The admin API is read-only here").waitFor();
    await opened(page, "only");
    assert.equal(await page.locator("#endpoints button:visible", { hasText: /drain|cordon/i }).count(), 0);
    assert.equal(await page.locator("#rewrites input:visible").count(), 0);
    assert.equal(await page.locator("#token").isVisible(), false);
    assert.deepEqual(problems, []);
    await page.close();
  });

  it("has the replicas of each pool", async () => {
    const further = poolDocument("small", [replicas[1]!.url]);
    const { page, problems } = await showPage(
      routers.browser,
      pageOf(await routers.start(configOver({ large: replicas[0]!.url }) + further)),
    );
    const text = (await page.locator("#figures").textContent()) ?? "";
    assert.match(text, /replicas serving\s*2 of 2\s*of pool small\s*1 of 1/);
    assert.deepEqual(problems, []);
    await page.close();
  });

  it("with a token, changes need it; it is kept nowhere", async () => {
    const config = configOver({ only: replicas[0]!.url }, '  admin: { token: "file:token" }\n');
    const { page } = await showPage(routers.browser, pageOf(await routers.start(config)));
    page.on("dialog", (dialog) => void dialog.accept());
    await opened(page, "only");
    const drain = page.getByRole("button", { name: "Drain only" });
    await drain.click();
    await page.locator("#result.problem").getByText("Nothing was changed: Send a token of spec.admin.token").waitFor();
    await page.locator("#token").fill("open-sesame");
    await drain.click();
    await stateOf(page, "only", /^draining/).waitFor();
    assert.equal(
      await page.evaluate("JSON.stringify([localStorage.length, sessionStorage.length, document.cookie])"),
      '[0,0,""]',
    );
    await page.close();
  });

  it("where reading needs a token, the page asks for one", async () => {
    const config = configOver(
      { only: replicas[0]!.url },
      '  admin: { tokens: [{ name: wall, role: read, token: "file:token" }] }\n',
    );
    const page = await routers.browser.newPage();
    await page.goto(pageOf(await routers.start(config)));
    await page.locator("#lost").getByText("it asks for a token: enter one above").waitFor();
    await page.locator("#token").fill("open-sesame");
    await rowOf(page, "only").waitFor();
    await page.locator("#lost").waitFor({ state: "hidden" });
    await page.getByText("may only read").waitFor();
    await page.close();
  });

  it("says when the router does not respond any more", async () => {
    const config = configOver({ only: replicas[0]!.url });
    const process = await routers.start(config);
    const { page } = await showPage(routers.browser, pageOf(process));
    process.kill("SIGKILL");
    await page
      .locator("#lost")
      .getByText(/^The router does not respond \(.+\); what is shown is \d+ s old\.$/)
      .waitFor();
    assert.equal(await page.locator(".health:visible, .warning:visible").count(), 1);
    await page.close();
  });
});
