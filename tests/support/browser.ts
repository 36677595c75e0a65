import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The installed Chromium; undefined where there is none (Debian has it in the package "chromium"). */
const CHROMIUM = [process.env["SIGNALBOX_CHROMIUM"] ?? "", ...PLACES].find((place) => place !== "" && existsSync(place));

/** Why tests that need a browser are skipped; false if one is installed. */
export const noBrowser = CHROMIUM === undefined ? "no Chromium is installed: the status page was NOT tested" : false;
if (noBrowser) console.error(`SKIPPED: ${noBrowser}`);

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ ...(CHROMIUM && { executablePath: CHROMIUM }), args: ["--no-sandbox"], timeout: 30_000 });
}

export interface ShownPage {
  readonly page: Page;
  /** Errors of scripts and of the console; violations of the content security policy are among them. */
  readonly problems: readonly string[];
}

/** Opens the status page and waits until it has drawn a status. */
export async function showPage(
  browser: Browser,
  url: string,
  { width = 1280, height = 900, scheme = "light" as "light" | "dark" } = {},
): Promise<ShownPage> {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
  page.setDefaultTimeout(25_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  await page.goto(url);
  await page.locator("#main").waitFor({ state: "visible" });
  return { page, problems };
}

/** By how many pixels the page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate("document.documentElement.scrollWidth - innerWidth");
}
