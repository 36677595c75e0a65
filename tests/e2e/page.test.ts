import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Status } from "../../apps/admin/status.ts";
import { type MockReplica, startMockReplica } from "../../apps/lab/mock/replica.ts";
import { askFor } from "../support/admin.ts";
import { noBrowser, overflow, showPage } from "../support/browser.ts";
import { rewriteTo } from "../support/reloading.ts";
import type { RouterProcess } from "../support/router-process.ts";
import { headOf, LIMIT, namesIn, opened, PageRouters, pageOf, stateOf } from "./page-routers.ts";

const HOSTILE = `"><img src=x onerror="document.title='taken'">`;

const routers = new PageRouters();
let replicas: readonly MockReplica[];
let router: RouterProcess;
let url: string;

const status = async () => JSON.parse((await askFor(router.adminPort, "/status")).body) as Status;

before(async () => {
  if (noBrowser) return;
  const models = { model: "base", adapters: ["v1", "v2", HOSTILE], timeScale: 0 };
  replicas = await Promise.all([models, models, models].map((options) => startMockReplica(options)));
  const urls = Object.fromEntries(replicas.map((replica, index) => [`gpu-${index + 1}`, replica.url]));
  const labels = `  pool: { endpoints: [ ${Object.entries(urls)
    .map(([name, at]) => `{ name: ${name}, url: "${at}", labels: { note: ${JSON.stringify(HOSTILE)} } }`)
    .join(", ")} ] }\n`;
  router = await routers.start(`apiVersion: signalbox/v1\nkind: Router\nspec:\n${labels}---\n${rewriteTo({ v1: 90, v2: 10 })}`);
  url = pageOf(router);
});
after(async () => {
  if (!noBrowser) await Promise.all(replicas.map((replica) => replica.close()));
});

async function post(model: string, id: string): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${router.port}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-request-id": id },
    body: JSON.stringify({ model, max_tokens: 3, messages: [{ role: "user", content: "hello" }] }),
  });
  await response.text();
  return response.status;
}

describe("the status page over three replicas", LIMIT, () => {
  it("says whether all is well, and shows what requests met", async () => {
    assert.equal(await post("food", "page-food"), 200);
    assert.equal(await post("nobody-has-it", "page-unknown"), 404);
    const { page, problems } = await showPage(routers.browser, url);
    await page.getByText("All 3 replicas serve").waitFor();
    assert.equal(await page.locator("#health-word").textContent(), "Well");
    assert.equal(await page.title(), "default – Signalbox");
    const figure = (name: string) => page.locator("#figures div", { hasText: name }).locator("dd");
    assert.equal(await figure("clients' errors").textContent(), "1");
    assert.equal(await figure("failed in router").textContent(), "0");
    const row = await opened(page, "gpu-1");
    assert.equal(await row.locator(".state").textContent(), "ready");
    assert.match(
      (await row.locator("dl").textContent()) ?? "",
      /stateready for \d+ sprobeschecked \d\.\d s ago, next (now|in \d)/,
    );
    assert.equal(await overflow(page), 0);
    assert.deepEqual(problems, []);
    await page.close();
  });

  it("has one banner; replicas come above decisions while something is wrong, and not because somebody drained one", async () => {
    const { page, problems } = await showPage(routers.browser, url);
    const order = () =>
      page.evaluate(
        '[...document.querySelectorAll("main > section")].map(({ id }) => id).filter((id) => /^(dec|rep)/.test(id)).join()',
      );
    const word = (text: string) => page.locator("#health-word", { hasText: text }).waitFor();
    await word("Well");
    assert.equal(await order(), "decisions-section,replicas-section");
    const drain = (name: string, action: string) =>
      fetch(`${url}api/v1/endpoints/${name}/${action}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
    await drain("gpu-1", "drain");
    await page.getByText("2 of 3 replicas serve: gpu-1 is draining").waitFor();
    assert.equal(await page.locator("#health-word").textContent(), "Well");
    for (const name of ["gpu-2", "gpu-3"]) await drain(name, "drain");
    await word("Needs attention");
    assert.equal(await order(), "replicas-section,decisions-section");
    assert.equal(await page.locator(".health:visible, .warning:visible").count(), 1);
    await page.locator("#warnings li", { hasText: "Every replica was taken out" }).waitFor();
    // What is open or has the focus stays where it is.
    await opened(page, "gpu-1");
    for (const name of ["gpu-1", "gpu-2", "gpu-3"]) await drain(name, "undrain");
    await word("Well");
    assert.equal(await order(), "replicas-section,decisions-section");
    await opened(page, "gpu-1");
    await page.evaluate("document.activeElement.blur()");
    await page.locator("#decisions-section + #replicas-section").waitFor();
    assert.deepEqual(problems, []);
    await page.close();
  });

  it("sorts by click and by keyboard, and says so", async () => {
    const { page, problems } = await showPage(routers.browser, url);
    const head = headOf(page, "Replica");
    await head.getByRole("button").click();
    assert.deepEqual(await namesIn(page), ["gpu-1", "gpu-2", "gpu-3"]);
    assert.equal(await head.getAttribute("aria-sort"), "ascending");
    await page.keyboard.press("Enter");
    assert.deepEqual(await namesIn(page), ["gpu-3", "gpu-2", "gpu-1"]);
    assert.equal(await head.getAttribute("aria-sort"), "descending");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    assert.equal(await headOf(page, "State").getAttribute("aria-sort"), "descending");
    assert.equal(await head.getAttribute("aria-sort"), null);
    assert.deepEqual(problems, []);
    await page.close();
  });

  it("a decision opens into its explanation; decisions are filtered", async () => {
    const { page, problems } = await showPage(routers.browser, url);
    await page.locator("#by-text").fill("page-food");
    const openers = page.locator("#decisions .opener:visible");
    await page.waitForFunction('document.querySelectorAll("#decisions .opener").length === 1');
    await openers.first().focus();
    await page.keyboard.press("Enter");
    assert.equal(await openers.first().getAttribute("aria-expanded"), "true");
    const text = (await page.locator(".explanation").textContent()) ?? "";
    assert.match(text, /page-food/);
    assert.match(text, /food, which the rule food\/0 turned into v\d/);
    assert.equal(await page.locator(".explanation tbody tr").count(), 3);
    // Nothing moves below an open one.
    await page.locator("#by-text").fill("");
    await post("base", "page-later");
    await page.getByText("held while one is open").waitFor();
    const count = await openers.count();
    await page.locator("#decisions [aria-expanded=true]").click();
    await page.waitForFunction(`document.querySelectorAll("#decisions .opener").length > ${count}`);
    await openers.last().click();
    await page.locator("#by-status").selectOption("client");
    await page.locator("#decisions").getByText("nobody-has-it", { exact: true }).waitFor();
    await page.locator("#by-status").selectOption("");
    await page.locator("#by-model").fill("no such model");
    await page.waitForFunction('document.querySelectorAll("#decisions .opener").length === 0');
    await page.locator("#by-model").fill("FOOD");
    assert.equal(await openers.first().getAttribute("aria-expanded"), "true");
    assert.deepEqual(problems, []);
    await page.close();
  });

  it("a decision that is opened has a link, which opens it in another browser", async () => {
    const id = "page-link.1_a";
    await post("base", id);
    for (let later = 0; later < 12; later++) await post("base", `page-after-link-${later}`);
    const { page } = await showPage(routers.browser, url);
    await page.locator("#by-text").fill(id);
    const opener = page.locator("#decisions .opener");
    await opener.nth(1).waitFor({ state: "detached" });
    await opener.focus();
    await page.keyboard.press("Enter");
    const link = page.url();
    assert.equal(link, `${url}#decision=${id}`);
    await opener.click();
    assert.equal(page.url(), `${url}#`);
    await page.close();

    const { page: other, problems } = await showPage(routers.browser, link);
    const shown = other.locator("#decisions .explanation:visible");
    await shown.getByText(id, { exact: true }).waitFor();
    assert.equal(await shown.count(), 1);
    await shown.scrollIntoViewIfNeeded();
    // A link that is followed while the page is open shows its decision whatever the filters are.
    await other.locator("#by-text").fill("no such request");
    await other.evaluate('location.hash = "decision=page-after-link-3"');
    await shown.getByText("page-after-link-3", { exact: true }).waitFor();
    assert.equal(await other.locator("#result").isVisible(), false);
    assert.equal(await overflow(other), 0);
    assert.deepEqual(problems, []);
    await other.close();
  });

  for (const id of ["never-there", "%", HOSTILE])
    it(`a link to a decision that is not remembered says so: ${id}`, async () => {
      const { page, problems } = await showPage(routers.browser, `${url}#decision=${encodeURIComponent(id)}`);
      await page.locator("#result-text").getByText(`The router does not remember the request ${id}:`).waitFor();
      assert.equal(await page.locator("#decisions .explanation:visible").count(), 0);
      assert.equal(await page.locator("#lost").isVisible(), false);
      assert.deepEqual(problems, []);
      await page.close();
    });

  it("a request that ends while the page is open comes by itself", async () => {
    const { page } = await showPage(routers.browser, url);
    await page.locator("#by-text").fill("page-live");
    assert.equal(await page.locator("#decisions .opener").count(), 0);
    await post("base", "page-live");
    await page.locator("#decisions .opener").waitFor();
    await page.close();
  });

  it("draws what requests met over the span that is chosen, by mouse or keyboard", async () => {
    const { page, problems } = await showPage(routers.browser, url);
    const chart = (title: string) => page.locator("#charts > div", { hasText: title });
    const width = async () => (await chart("Requests a second").locator("svg").getAttribute("viewBox"))?.split(" ")[2];
    const steps = async () => (await status()).traffic.history.requestsPerS.length - 1;
    const least = await steps();
    await chart("Requests a second").waitFor();
    const drawn = Number(await width());
    // A step may end meanwhile.
    assert.ok(drawn >= least - 1 && drawn <= (await steps()), `${drawn} steps`);
    assert.match((await chart("Replicas serving").locator(".legend").textContent()) ?? "", /^Replicas serving 3 at least$/);
    assert.match((await chart("Replicas serving").locator("path").getAttribute("d")) ?? "", /^M0,[\d.]+h0L1,/);
    assert.equal(await chart("Requests that wait").isVisible(), false);
    await page.getByLabel("Charts of the last").focus();
    await page.keyboard.press("End");
    await page.getByText("drawn when two steps of 12 min are over").waitFor();
    assert.equal(await page.locator("#charts > div:visible").count(), 0);
    await page.getByLabel("Charts of the last").selectOption("10m");
    await chart("Requests a second").waitFor();
    assert.equal(await overflow(page), 0);
    assert.deepEqual(problems, []);
    await page.close();
  });

  it("names from clients and replicas are texts", async () => {
    await post(HOSTILE, "page-hostile");
    await post(`<script>document.title="taken"</script>`, "page-script");
    const { page, problems } = await showPage(routers.browser, url);
    await page.locator("#decisions").getByText(HOSTILE, { exact: true }).first().waitFor();
    for (const opener of await page.locator("#decisions .opener").all()) await opener.click();
    assert.match((await (await opened(page, "gpu-1")).locator("dl").textContent()) ?? "", /note="><img src=x/);
    assert.equal(await page.locator("img, main script").count(), 0);
    assert.doesNotMatch(await page.title(), /taken/);
    assert.deepEqual(problems, []);
    await page.close();
  });

  it("drains and undrains by button, and asks before the last one goes", async () => {
    const { page, problems } = await showPage(routers.browser, url);
    await page.locator("#reason").fill(`maintenance ${HOSTILE}`);
    for (const name of ["gpu-1", "gpu-2", "gpu-3"]) await opened(page, name);
    await page.getByRole("button", { name: "Drain gpu-2", exact: true }).click();
    await stateOf(page, "gpu-2", /^draining: .*maintenance/).waitFor();
    assert.match((await page.locator("#result-text").textContent()) ?? "", /^gpu-2 is drained/);
    await page.getByRole("button", { name: "Cordon gpu-3", exact: true }).click();
    await stateOf(page, "gpu-3", /^cordoned/).waitFor();

    const asked: string[] = [];
    page.once("dialog", (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    await page.getByRole("button", { name: "Drain gpu-1", exact: true }).click();
    assert.match(asked[0] ?? "", /^gpu-1 is the last replica that serves/);
    assert.equal((await status()).endpoints.find(({ name }) => name === "gpu-1")?.phase, "ready");

    for (const name of ["gpu-2", "gpu-3"]) {
      await page.getByRole("button", { name: `Undrain ${name}`, exact: true }).click();
      await stateOf(page, name, /^ready$/).waitFor();
    }
    assert.deepEqual(problems, []);
    await page.close();
  });

  it("changes weights; what the API refuses is shown", async () => {
    const { page, problems } = await showPage(routers.browser, url);
    await page.getByLabel("Weight of v1").fill("50");
    await page.getByLabel("Weight of v2").fill("50");
    await page.getByRole("button", { name: "Apply weights" }).click();
    await page.getByText("The weights of food/0 are changed").waitFor();
    const { rewrites, config } = await status();
    assert.deepEqual(
      rewrites[0]?.targets.map(({ weight }) => weight),
      [50, 50],
    );
    assert.equal(config.overlay.length, 1);
    // What requests met is known beyond a change of the config.
    assert.ok((await status()).traffic.requests >= 2);
    await page.locator("#config-lines").getByText("Beside the files: rewrite food changed by 127.0.0.1").waitFor();
    assert.deepEqual(problems, []);

    await page.getByLabel("Weight of v1").fill("2000000");
    await page.getByRole("button", { name: "Apply weights" }).click();
    await page
      .locator("#result.problem")
      .getByText(/^Nothing was changed: The body does not have the shape/)
      .waitFor();
    assert.equal(await page.getByLabel("Weight of v1").inputValue(), "2000000");
    await page.getByRole("button", { name: "Reset" }).click();
    assert.equal(await page.getByLabel("Weight of v1").inputValue(), "50");
    await page.close();
  });

  it("a replica's state has its whole cause on a telephone", async () => {
    const act = (action: string, body: object) =>
      fetch(`${url}api/v1/endpoints/gpu-2/${action}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    await act("cordon", { reason: "the driver is older than the model wants" });
    const { page } = await showPage(routers.browser, url, { width: 390 });
    const cell = stateOf(page, "gpu-2", /^cordoned: the driver is older than the model wants; asked by/);
    await cell.waitFor();
    const cut = (element: { scrollWidth: number; clientWidth: number }) => element.scrollWidth - element.clientWidth;
    assert.equal(await cell.evaluate(cut), 0);
    assert.equal(await overflow(page), 0);
    await act("undrain", {});
    await page.close();
  });

  for (const [width, scheme] of [
    [390, "light"],
    [390, "dark"],
    [800, "light"],
    [1280, "dark"],
  ] as const) {
    it(`everything of the replica table is seen at ${width} pixels, ${scheme}`, async () => {
      const { page, problems } = await showPage(routers.browser, url, { width, scheme });
      await page.waitForFunction('document.querySelectorAll("#endpoints tbody").length === 3');
      const row = await opened(page, "gpu-1");
      assert.equal(await overflow(page), 0);
      const cut = await page.evaluate(
        '[...document.querySelectorAll("#endpoints td:not(.more), #endpoints dd")].filter((cell) => cell.getBoundingClientRect().right > innerWidth || cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.className + cell.textContent).join()',
      );
      assert.equal(cut, "");
      assert.match((await row.locator("dl").textContent()) ?? "", /KV cache0 %/);
      assert.ok(await row.getByRole("button", { name: "Drain" }).isVisible());
      assert.deepEqual(problems, []);
      await page.close();
    });
  }
});
