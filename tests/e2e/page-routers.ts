import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import type { Browser, Page } from "playwright-core";
import { noBrowser, startBrowser } from "../support/browser.ts";
import { type RouterProcess, startRouterProcess } from "../support/router-process.ts";

export const LIMIT = { skip: noBrowser, timeout: 240_000 };

/** A browser, and routers with pages to look at; they end with the file. */
export class PageRouters {
  readonly #started: RouterProcess[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), "signalbox-page-"));
  #browser: Browser | undefined;

  constructor() {
    writeFileSync(join(this.#folder, "token"), "open-sesame\n");
    before(async () => {
      if (!noBrowser) this.#browser = await startBrowser();
    });
    after(() => this.#end());
  }

  get browser(): Browser {
    if (this.#browser === undefined) throw new Error("There is no browser before the tests.");
    return this.#browser;
  }

  /** A router with this config, in whose folder `token` holds a token. */
  async start(config: string): Promise<RouterProcess> {
    const file = join(this.#folder, `signalbox-${this.#started.length}.yaml`);
    writeFileSync(file, config);
    const process = await startRouterProcess([], { config: file, hasAdmin: true });
    this.#started.push(process);
    return process;
  }

  async #end(): Promise<void> {
    await this.#browser?.close();
    for (const process of this.#started) process.kill("SIGTERM");
    await Promise.all(this.#started.map(({ exited }) => exited));
    rmSync(this.#folder, { recursive: true });
  }
}

export const pageOf = ({ adminPort }: RouterProcess) => `http://127.0.0.1:${adminPort}/`;
export const rowOf = (page: Page, name: string) =>
  page.locator("#endpoints tbody", { has: page.getByText(name, { exact: true }) });

/** Opens the line of a replica. */
export async function opened(page: Page, name: string) {
  const row = rowOf(page, name);
  await row.locator(".opener").click();
  return row;
}

export const stateOf = (page: Page, name: string, text: RegExp) => rowOf(page, name).locator(".state", { hasText: text });
export const headOf = (page: Page, name: string) => page.locator("#endpoints").getByRole("columnheader", { name, exact: true });
export const namesIn = (page: Page) => page.locator("#endpoints .opener").allTextContents();
