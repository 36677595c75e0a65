import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventStream } from "../../../apps/admin/event-stream.ts";
import { readEventSource, type SourceEvent } from "../../support/event-source.ts";
import { FakeClock, settle } from "../../support/fake-clock.ts";

function open() {
  const clock = new FakeClock();
  let endings = 0;
  const stream = new EventStream(clock, () => {
    endings += 1;
  });
  const reader = stream.body.getReader();
  let bytes: Uint8Array = new Uint8Array(0);
  return {
    clock,
    stream,
    get endings() {
      return endings;
    },
    get text() {
      return new TextDecoder().decode(bytes);
    },
    cancel: () => reader.cancel(),
    /** Takes one chunk; false at the end. */
    async take(): Promise<boolean> {
      const part = await reader.read();
      if (part.value !== undefined) bytes = Buffer.concat([bytes, part.value]);
      await settle();
      return !part.done;
    },
    events: (): SourceEvent[] => readEventSource(bytes),
  };
}

const BIG = "x".repeat(30_000);

describe("an event stream", () => {
  it("tells at once that somebody listens, and when to come back", async () => {
    const { take, stream, ...read } = open();
    await take();
    stream.end();
    assert.equal(await take(), false);
    assert.deepEqual(read.events(), []);
  });

  it("keeps events whole, whatever is in them", async () => {
    const { take, stream, events } = open();
    const texts = ['{"a":1}', "", "two\nlines\r\nthree\rfour", "é 漢"];
    for (const text of texts) stream.send(() => text);
    stream.end();
    while (await take());
    assert.deepEqual(
      events().map(({ data }) => data),
      texts.map((text) => text.replace(/\r\n?/g, "\n")),
    );
  });

  it("drops what its reader does not take, without making it, and says how many in its place", async () => {
    const { take, stream, events } = open();
    let made = 0;
    const send = (name: string) =>
      stream.send(() => {
        made += 1;
        return name + BIG;
      });
    for (const name of ["a", "b", "c", "d", "e", "f"]) send(name);
    assert.equal(made, 3);
    for (let i = 0; i < 4; i++) await take();
    send("g");
    stream.end();
    while (await take());
    assert.deepEqual(
      events().map(({ type, data }) => (type === "message" ? data[0] : `${type} ${data}`)),
      ["a", "b", "c", 'dropped {"count":3}', "g"],
    );
  });

  it("drops what comes faster than anybody reads", async () => {
    const { take, stream, events, clock } = open();
    for (let i = 0; i < 1_200; i++) stream.send(() => "1");
    await clock.advance(1_000);
    stream.send(() => "2");
    stream.end();
    while (await take());
    const seen = events();
    assert.equal(seen.length, 1_002);
    assert.deepEqual(seen.slice(-2), [
      { type: "dropped", data: '{"count":200}' },
      { type: "message", data: "2" },
    ]);
  });

  it("sends comments while nothing happens, and the number of dropped events with them", async () => {
    const view = open();
    for (let i = 0; i < 1_001; i++) view.stream.send(() => "1");
    view.stream.keepAlive();
    view.stream.end();
    while (await view.take());
    assert.deepEqual(view.events().at(-1), { type: "dropped", data: '{"count":1}' });
    assert.match(view.text, /\n: still here\n\n$/);
  });

  it("ends when nobody has read for a minute, and frees what it held", async () => {
    const view = open();
    for (let i = 0; i < 4; i++) view.stream.send(() => BIG);
    await view.clock.advance(59_000);
    view.stream.keepAlive();
    assert.equal(view.endings, 0);
    await view.clock.advance(1_000);
    view.stream.keepAlive();
    assert.equal(view.endings, 1);
    await assert.rejects(view.take(), /too long/);
    view.stream.send(() => assert.fail("made for nobody"));
    view.stream.end();
    assert.equal(view.endings, 1);
  });

  it("ends when its reader leaves", async () => {
    const view = open();
    await view.cancel();
    view.stream.send(() => assert.fail("made for nobody"));
    view.stream.keepAlive();
    view.stream.end();
    assert.equal(view.endings, 1);
  });
});
