/** A reporter of Node's test runner: a line in JUnit's words for each test that is in no other. Node's own JUnit reporter names no files. */
import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { ROOT } from "./runtimes.ts";

export default async function* fileTimes(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if ((type !== "test:pass" && type !== "test:fail") || data.nesting > 0 || data.file === undefined) continue;
    yield `<testcase classname="./${relative(ROOT, data.file)}" time="${data.details.duration_ms / 1000}">\n`;
  }
}
