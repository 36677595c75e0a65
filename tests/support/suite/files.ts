/**
 * Loads the test files named in SIGNALBOX_TEST_FILES into this process, which runs the tests that they register, in their order. A
 * test of each file's name runs before its own; what each file took goes to SIGNALBOX_TEST_TIMES. Each file has a folder of its own below SIGNALBOX_TEST_FOLDERS as its temporary folder.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { pathToFileURL } from "node:url";
import { folderOf, own } from "./leftovers.ts";
import { ROOT } from "./runtimes.ts";

const { SIGNALBOX_TEST_FILES: names = "", SIGNALBOX_TEST_TIMES: times = "", SIGNALBOX_TEST_FOLDERS: folders = "" } = process.env;
/** From the last test on, for what is closed behind it. They are counted: while a hook deletes many files, no time passes. */
const END_SECONDS = Number(process.env["SIGNALBOX_TEST_END_SECONDS"] ?? 60);
let running: { readonly file: string; readonly fromMs: number } | undefined;

/** The tests that come now are those of this file; without one, there are no more. */
function mark(file?: string): void {
  const nowMs = performance.now();
  if (running !== undefined) appendFileSync(times, `${(nowMs - running.fromMs) / 1000} ${running.file}\n`);
  running = file === undefined ? undefined : { file, fromMs: nowMs };
}

let begin = () => {};
const loaded = new Promise<void>((resolve) => {
  begin = resolve;
});
// Node runs what is registered at once, and a `before` of a file that comes later beside its tests: nothing runs before all is loaded.
it("the beginning of the files", () => loaded);
for (const [index, file] of names.split(" ").entries()) {
  const ownAll = () => own(file, folderOf(folders, index));
  it(file, () => {
    ownAll();
    mark(file);
  });
  ownAll();
  try {
    await import(pathToFileURL(join(ROOT, file)).href);
  } catch (error) {
    it(`${file} loads`, () => {
      throw error;
    });
  }
}
it("the end of the files", () => {
  mark();
  // What is closed behind the last test takes a moment. A process that something keeps alive would go on to the limit of its group.
  let seconds = 0;
  setInterval(() => {
    seconds += 1;
    if (seconds < END_SECONDS) return;
    console.error(`The tests have ended, but their process does not: ${process.getActiveResourcesInfo().join(", ")}`);
    process.exit(1);
  }, 1000).unref();
});
begin();
