import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Definition } from "../../../core/contract/plugin.ts";
import { secretOf } from "../../../core/contract/secret.ts";
import { makeOutcome } from "../../../core/test-kit/records.ts";
import otelTraces from "../../../plugins/observers/otel-traces.ts";
import { createPlugin, issuesOf, makeHost } from "../../support/plugins.ts";
import { startTraceReceiver } from "../../support/trace-receiver.ts";

const SECRETS = { "env:TOKEN": "t-1", "file:/run/k": "k-2" };

before(() => otelTraces.load?.());
const VARIABLES = ["OTEL_SERVICE_NAME", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS"];
after(() => {
  for (const name of VARIABLES) delete process.env[name];
});

describe("its parameters", () => {
  const rows: readonly (readonly [parameters: object, isGood: boolean])[] = [
    [{}, true],
    [{ url: "http://collector:4318" }, true],
    [{ url: "https://[fd00::1]:4318/otlp/v1/traces?x=1" }, true],
    [{ url: "collector:4318" }, false],
    [{ url: "ftp://collector" }, false],
    [{ url: "http://user:pass@collector" }, false],
    [{ url: "http://" }, false],
    [{ url: "http://a b" }, false],
    [{ ratio: 0 }, true],
    [{ ratio: 1 }, true],
    [{ ratio: 1.1 }, false],
    [{ ratio: -0.1 }, false],
    [{ ratio: "half" }, false],
    [{ headers: { "x-key": "a b" } }, true],
    [{ headers: { "x key": "a" } }, false],
    [{ headers: { "x-key": "a\r\nb" } }, false],
    [{ headers: { "x-key": "\u00e9" } }, false],
    [{ resource: { "service.version": "1", count: 2, is: true } }, true],
    [{ resource: { nested: {} } }, false],
    [{ queueSize: 1 }, false],
    [{ ratoi: 1 }, false],
  ];
  for (const [parameters, isGood] of rows) {
    it(`${JSON.stringify(parameters)} are ${isGood ? "fine" : "refused"}`, () =>
      assert.equal(issuesOf(otelTraces as Definition, parameters).length === 0, isGood));
  }

  const values: readonly (readonly [value: string, from: readonly string[]])[] = [
    ["env:TOKEN", ["env:TOKEN"]],
    ["Bearer env:TOKEN", ["env:TOKEN"]],
    ["Basic file:/run/k", ["file:/run/k"]],
    ["tenant-1", []],
    ["an env:TOKEN in the middle", []],
    ["env:", []],
  ];
  for (const [value, from] of values)
    it(`the secret of the header "${value}"`, () => {
      const options = { headers: { a: value } } as unknown as Parameters<NonNullable<typeof otelTraces.secrets>>[0];
      assert.deepEqual(otelTraces.secrets?.(options), from);
    });
});

async function exported(parameters: object) {
  const receiver = await startTraceReceiver();
  after(() => receiver.close());
  const host = makeHost({ secret: (from) => secretOf(SECRETS[from as keyof typeof SECRETS], from) });
  const { origin } = new URL(receiver.url);
  const isFromEnvironment = "url" in parameters;
  if (isFromEnvironment) process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = origin;
  const url = isFromEnvironment ? undefined : origin;
  const plugin = createPlugin(otelTraces, { periodMs: 10, ratio: 1, ...parameters, url }, host);
  const trace = plugin.trace?.({ get: () => undefined });
  plugin.finished(makeOutcome());
  plugin.finished(makeOutcome({ trace }));
  plugin.dispose?.();
  while (receiver.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  return receiver;
}

describe("what it exports", () => {
  it("are the spans of traced requests, with the headers that it was given, to /v1/traces", async () => {
    const headers = { authorization: "Bearer env:TOKEN", "x-key": "file:/run/k", "x-tenant": "a b" };
    const { requests, spans, faults } = await exported({ headers });
    assert.deepEqual([requests.length, requests[0]?.url, faults], [1, "/v1/traces", []]);
    const sent = requests[0]?.headers ?? {};
    assert.deepEqual([sent.authorization, sent["x-key"], sent["x-tenant"]], ["Bearer t-1", "k-2", "a b"]);
    assert.deepEqual(spans[0]?.resource, { "service.name": "signalbox" });
  });

  it("has the service's name from the environment where the config leaves it out", async () => {
    process.env["OTEL_SERVICE_NAME"] = "from-env";
    assert.equal((await exported({})).spans[0]?.resource["service.name"], "from-env");
    assert.equal((await exported({ serviceName: "mine" })).spans[0]?.resource["service.name"], "mine");
  });

  it("goes where the environment says, with its headers, where the config leaves the url out", async () => {
    process.env["OTEL_EXPORTER_OTLP_HEADERS"] = "x-from=env,x-both=env";
    const { requests } = await exported({ url: undefined, headers: { "x-both": "config" } });
    const { "x-from": from, "x-both": both } = requests[0]?.headers ?? {};
    assert.deepEqual([requests[0]?.url, from, both], ["/v1/traces", "env", "config"]);
  });
});
