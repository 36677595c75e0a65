import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { noBrowser, overflow, showPage } from "../support/browser.ts";
import { configOver } from "../support/reloading.ts";
import { headOf, LIMIT, namesIn, opened, PageRouters, pageOf, rowOf } from "./page-routers.ts";

const routers = new PageRouters();

describe("the status page over 1,000 replicas", LIMIT, () => {
  let many: string;

  before(async () => {
    if (noBrowser) return;
    const names = Array.from({ length: 1000 }, (_, index) => `pod-${index}`);
    const config = configOver(Object.fromEntries(names.map((name, index) => [name, `http://127.0.0.1:${1 + index}`])));
    many = pageOf(await routers.start(config));
  });

  it("shows them in pages, sorted as people count, and finds one", async () => {
    const { page, problems } = await showPage(routers.browser, many);
    await headOf(page, "Replica").getByRole("button").click();
    const names = await namesIn(page);
    assert.equal(names.length, 25);
    assert.deepEqual(names.slice(0, 3), ["pod-0", "pod-1", "pod-2"]);
    assert.equal(await page.locator("#endpoint-pages output").textContent(), "1 to 25 of 1,000");
    await page.getByRole("button", { name: "Next" }).click();
    assert.deepEqual((await namesIn(page)).slice(0, 2), ["pod-25", "pod-26"]);
    assert.equal(await page.locator("#health-word").textContent(), "Needs attention");
    await page.locator("#endpoint-text").fill("pod-19 ");
    assert.equal((await namesIn(page)).length, 11);
    assert.equal(await page.locator("#endpoint-count").textContent(), "11 of 1,000 replicas");
    assert.equal(await page.locator("#endpoint-pages").isVisible(), false);
    await page.locator("#endpoint-state").selectOption("failing");
    assert.equal((await namesIn(page)).length, 0);
    assert.deepEqual(problems, []);
    await page.close();
  });

  it("stays small: one line for each of those that are seen", async () => {
    const { page } = await showPage(routers.browser, many);
    assert.ok(Number(await page.evaluate('document.querySelectorAll("*").length')) < 1_000);
    const heights =
      '[...document.querySelectorAll("#endpoints tbody")].map((row) => Math.round(row.getBoundingClientRect().height))';
    assert.ok(((await page.evaluate(heights)) as number[]).every((height) => height < 40));
    await page.close();
  });

  it("keeps focus, selection, scroll and what is open while it is drawn again", async () => {
    const { page } = await showPage(routers.browser, many);
    await headOf(page, "Replica").getByRole("button").click();
    await opened(page, "pod-20");
    const name = page.locator("#endpoints .opener", { hasText: /^pod-20$/ });
    await name.scrollIntoViewIfNeeded();
    await page.evaluate(`
      const opener = [...document.querySelectorAll("#endpoints .opener")].find((each) => each.textContent === "pod-20");
      getSelection().selectAllChildren(opener);
      opener.closest("tbody").querySelector(".actions button").focus({ preventScroll: true });
    `);
    const state = "[String(getSelection()), document.activeElement.ariaLabel]";
    const place = () =>
      name.evaluate((element: { getBoundingClientRect(): { top: number } }) => element.getBoundingClientRect().top);
    const before = await page.evaluate(state);
    const top = await place();
    const shown = await page.locator("#updated").textContent();
    await page.waitForFunction((text) => document.querySelector("#updated")?.textContent !== text, shown);
    await page.waitForTimeout(50);
    assert.deepEqual(await page.evaluate(state), before);
    assert.deepEqual(before, ["pod-20", "Drain pod-20"]);
    assert.ok(Math.abs((await place()) - top) < 20, `moved from ${top} to ${await place()}`);
    // It is open still when its page comes again.
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByRole("button", { name: "Previous" }).click();
    assert.equal(await rowOf(page, "pod-20").locator(".opener").getAttribute("aria-expanded"), "true");
    await page.close();
  });

  it("fits a telephone", async () => {
    const { page } = await showPage(routers.browser, many, { width: 390 });
    assert.equal(await overflow(page), 0);
    await headOf(page, "Replica").getByRole("button").click();
    assert.deepEqual((await namesIn(page)).slice(0, 2), ["pod-0", "pod-1"]);
    await page.close();
  });
});
