import assert from "node:assert/strict";
import { test } from "node:test";
import { BodyWriter } from "../../../../apps/lab/simulate/body-writer.ts";
import { makeTraced } from "./traces.ts";

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test("a body is a completion request whose model and prompt are where the spans say", () => {
  const requests = [makeTraced(0, [1, 2, 3]), { ...makeTraced(0, [4]), model: 'a "quoted" name' }, makeTraced(0, [5, 6])];
  const writer = new BodyWriter(requests);
  for (const request of requests) {
    const bytes = writer.write(request);
    const body = JSON.parse(textOf(bytes)) as { model: string; prompt: string };
    assert.deepEqual([body.model, body.prompt.length], [request.model, 4 * request.prompt.tokens]);
    assert.equal(textOf(bytes.subarray(...writer.modelSpan(request))), JSON.stringify(request.model));
    assert.equal(textOf(bytes.subarray(...writer.promptSpan(request, bytes.length))), body.prompt);
  }
});

test("an image is at the end of its prompt", () => {
  const request = { ...makeTraced(0, [1, 2, 3]), image: { bytes: 6_000, isRecognised: true } };
  const writer = new BodyWriter([request]);
  const bytes = writer.write(request);
  const [start, end] = writer.promptSpan(request, bytes.length);
  assert.deepEqual([writer.imageSpan(request), end - start], [[start + 800, end], 6_800]);
});
