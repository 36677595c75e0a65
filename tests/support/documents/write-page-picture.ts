// `npm run page-picture`: writes docs/status-page.png, the status page of the demo after some requests. Needs Chromium.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { noBrowser, showPage, startBrowser } from "../browser.ts";
import { signalbox } from "../cli.ts";

const FILE = join(import.meta.dirname, "..", "..", "..", "docs", "status-page.png");
const CONVERSATIONS = 4;
const TURNS = 5;
/** The page draws once a second. */
const DRAWN_MS = 2_500;

if (noBrowser) throw new Error(noBrowser);
const { child, output, ended } = signalbox("start", "--port", "0", "--admin-port", "0");
const browser = await startBrowser();
try {
  const url = await printed(/listening on (http:\/\/[\d.:]+)/);
  const admin = await printed(/[Pp]age:? .*?(http:\/\/[\d.:]+)/);
  for (let turn = 1; turn <= TURNS; turn++)
    for (let conversation = 1; conversation <= CONVERSATIONS; conversation++) await ask(url, conversation, turn);
  const { page } = await showPage(browser, admin, { width: 1100, height: 1000 });
  await new Promise((resolve) => setTimeout(resolve, DRAWN_MS));
  writeFileSync(FILE, await page.screenshot({ type: "png" }));
} finally {
  await browser.close();
  child.kill();
  await ended;
}

/** What the program prints behind some words. Rejects if it ends first. */
async function printed(words: RegExp): Promise<string> {
  for (;;) {
    const [, found] = words.exec(output.out + output.err) ?? [];
    if (found !== undefined) return found;
    if (child.exitCode !== null) throw new Error(output.err);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** A turn of a conversation, which repeats what was said before. */
async function ask(url: string, conversation: number, turn: number): Promise<void> {
  const content = Array.from({ length: 60 * turn }, (_, index) => `Train ${conversation}.${index} waits for its signal.`).join(
    " ",
  );
  const body = JSON.stringify({
    model: turn % 2 ? "food-review" : "demo",
    max_tokens: 8,
    stream: turn > 3,
    messages: [{ role: "user", content }],
  });
  const response = await fetch(`${url}/v1/chat/completions`, {
    ...{ method: "POST", body },
    headers: { "content-type": "application/json" },
  });
  await response.text();
}
