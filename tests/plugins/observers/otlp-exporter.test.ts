import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { systemClock } from "../../../core/contract/clock.ts";
import { loadExporter, openExporter, type Span, type SpanExporter } from "../../../plugins/observers/otlp-exporter.ts";
import { type Manner, startTraceReceiver } from "../../support/trace-receiver.ts";

const context = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", traceFlags: 1 };
const span = {
  name: "POST /v1/completions",
  kind: 1,
  spanContext: () => context,
  startTime: [1_700_000_000, 5],
  endTime: [1_700_000_001, 999_999_999],
  duration: [1, 999_999_994],
  ended: true,
  status: { code: 0 },
  attributes: { text: "\u00e9 \u4f60", count: 3, part: 0.5, is: true, list: ["a", "b"] },
  links: [],
  events: [{ name: "first byte", time: [1_700_000_000, 500] }],
  resource: { attributes: { "service.name": "signalbox" } },
  instrumentationScope: { name: "signalbox" },
  droppedAttributesCount: 0,
  droppedEventsCount: 0,
  droppedLinksCount: 0,
} as unknown as Span;

describe("openExporter", () => {
  before(loadExporter);

  async function exported(manner: Manner, timeoutMs = 300) {
    const receiver = await startTraceReceiver(manner);
    const exporter = openExporter({ url: receiver.url, headers: { "x-tenant": "a b" }, timeoutMs }, systemClock);
    after(async () => {
      exporter.close();
      await receiver.close();
    });
    return { receiver, exporter, reason: await exporter.send([span, span]) };
  }

  it("sends spans that the receiver understands, on one connection", async () => {
    const { receiver, exporter, reason } = await exported("ok", 5_000);
    assert.deepEqual([reason, await exporter.send([span])], ["", ""]);
    assert.deepEqual(receiver.faults, []);
    assert.equal(receiver.spans.length, 3);
    const [first] = receiver.spans;
    assert.deepEqual(
      [first?.startNs, first?.endNs, first?.attributes],
      [1_700_000_000_000_000_005n, 1_700_000_001_999_999_999n, span.attributes],
    );
    assert.equal(receiver.requests[0]?.headers["x-tenant"], "a b");
    assert.equal(receiver.requests[0]?.url, "/v1/traces");
  });

  const rows: readonly (readonly [manner: Manner, reason: RegExp])[] = [
    ["500", /^500 /],
    ["garbage", /./],
    ["reset", /./],
    ["hang", /^no response within 300 ms$|timed out/],
    ["endless", /size limit/],
  ];
  for (const [manner, wanted] of rows) {
    it(`gives a reason when the receiver does this: ${manner}`, async () => {
      const { reason } = await exported(manner, manner === "endless" ? 10_000 : 300);
      assert.match(reason, wanted);
      assert.doesNotMatch(reason, /[\x00-\x1f]/);
    });
  }

  it("ends an export whose response never ends, and sends the next one", async () => {
    const { receiver, exporter } = await exported("trickle");
    receiver.manner = "ok";
    assert.equal(await exporter.send([span]), "");
    assert.equal(receiver.spans.length, 1);
  });

  it("gives a reason when nobody listens", async () => {
    const receiver = await startTraceReceiver();
    await receiver.close();
    const exporter = openExporter({ url: receiver.url, headers: {}, timeoutMs: 300 }, systemClock);
    assert.match(await exporter.send([span]), /ECONNREFUSED|refused/i);
    exporter.close();
  });

  it("ends at once when it is closed", async () => {
    const receiver = await startTraceReceiver("hang");
    after(() => receiver.close());
    const exporter: SpanExporter = openExporter({ url: receiver.url, headers: {}, timeoutMs: 30_000 }, systemClock);
    const sent = exporter.send([span]);
    while (receiver.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    exporter.close();
    assert.notEqual(await sent, "");
    assert.notEqual(await exporter.send([span]), "");
    assert.equal(receiver.requests.length, 1);
  });
});
