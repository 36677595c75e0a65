import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { describe, it } from "node:test";
import { mergedStream } from "../../../../../apps/cli/start/workers/merged-stream.ts";
import { passLines } from "../../../../../apps/cli/start/workers/pass-lines.ts";

/** A stream that the test writes to. */
function source() {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let isCancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given;
    },
    cancel: () => {
      isCancelled = true;
    },
  });
  return {
    stream,
    write: (text: string) => controller.enqueue(new TextEncoder().encode(text)),
    end: () => controller.close(),
    get isCancelled() {
      return isCancelled;
    },
  };
}

describe("streams of several workers as one", () => {
  it("have whole events, in whatever parts they come, and end when one ends", async () => {
    const [one, other] = [source(), source()];
    const reader = mergedStream([one.stream, other.stream], new AbortController().signal).getReader();
    const next = async () => new TextDecoder().decode((await reader.read()).value);
    one.write("data: {1");
    other.write("data: {2}\n\n");
    assert.equal(await next(), "data: {2}\n\n");
    one.write("}\n\ndata: {3}\n\nda");
    assert.equal(await next(), "data: {1}\n\ndata: {3}\n\n");
    other.end();
    assert.equal((await reader.read()).done, true);
    assert.ok(one.isCancelled);
  });

  it("end when other workers serve, also while nothing comes", async () => {
    const [one, other] = [source(), source()];
    const ended = new AbortController();
    const reading = mergedStream([one.stream, other.stream], ended.signal).getReader().read();
    ended.abort();
    assert.equal((await reading).done, true);
    assert.ok(one.isCancelled && other.isCancelled);
  });
});

describe("lines of several workers", () => {
  it("are passed on whole, and what was half written at the end as a line of its own", async () => {
    const [from, written] = [new PassThrough(), [] as string[]];
    passLines(from, (lines) => written.push(Buffer.from(lines).toString()));
    for (const part of ["a", "b\nc", "d", "\n", "e"]) {
      from.write(part);
      await new Promise(setImmediate);
    }
    from.destroy();
    await new Promise((resolve) => from.once("close", resolve));
    assert.deepEqual(written, ["ab\n", "cd\n", "e\n"]);
  });
});
