import { z } from "../../core/contract/options.ts";
import { defineObserver } from "../../core/contract/plugin.ts";
import { loadExporter, openExporter, type Span } from "./otlp-exporter.ts";
import { spansOf } from "./request-spans.ts";
import { SpanQueue } from "./span-queue.ts";
import { sampledTrace } from "./trace-context.ts";

/** A header's value with a secret at its end: "env:NAME", "file:PATH", or one of them after a scheme, as in "Bearer env:NAME". */
const SECRET_VALUE = /^([A-Za-z-]+ )?(env:[A-Za-z_][A-Za-z0-9_]*|file:[^\x00-\x1f\x7f]+)$/;

const headerName = z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, "a header's name");
const headerValue = z.string().regex(/^[\x20-\x7e]*$/, "visible ASCII characters");

const options = z.strictObject({
  /**
   * Where spans are posted (OTLP/HTTP, JSON); without a path it is /v1/traces there. Left out: what OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or
   * OTEL_EXPORTER_OTLP_ENDPOINT says, or http://localhost:4318/v1/traces.
   */
  url: z
    .string()
    .regex(/^https?:\/\/[^\s@]+$/, "an http or https URL; a key belongs into headers")
    .refine((text) => URL.canParse(text), "an http or https URL")
    .optional(),
  /** Headers of each export, beside those of OTEL_EXPORTER_OTLP_HEADERS. Their secrets come from elsewhere: "Bearer env:NAME", "file:PATH". */
  headers: z.record(headerName, headerValue).default({}),
  /** The share of the requests that is traced. */
  ratio: z.number().min(0).max(1).default(0.1),
  /** Whether a caller's `traceparent` decides instead of the ratio. Off where clients must not choose what is traced. */
  followParent: z.boolean().default(true),
  /** Left out: what OTEL_SERVICE_NAME says, or "signalbox". */
  serviceName: z.string().min(1).max(255).optional(),
  /** What is said of this router in each export, for example deployment.environment.name. */
  resource: z.record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()])).default({}),
  /** Longest time for an export, its retries included. */
  timeoutMs: z.int().min(100).max(60_000).default(3_000),
  /** Longest time that a finished span waits for others. */
  periodMs: z.int().min(10).max(60_000).default(2_000),
  /** Most finished spans that wait; further ones are dropped and counted. */
  queueSize: z.int().min(64).max(100_000).default(2_048),
});

/** Spans are made when a request has ended, so requests wait for nothing here. */
export default defineObserver({
  type: "otel-traces",
  summary: "Traces a share of the requests and exports the spans over OTLP/HTTP.",
  options,
  load: loadExporter,
  secrets: ({ headers }) => Object.values(headers).flatMap((value) => SECRET_VALUE.exec(value)?.[2] ?? []),
  create(asked, host) {
    const { ratio, followParent, timeoutMs, periodMs, queueSize } = asked;
    const { clock, log, random } = host;
    const headers = Object.fromEntries(
      Object.entries(asked.headers).map(([name, value]) => {
        const [, scheme = "", from] = SECRET_VALUE.exec(value) ?? [];
        return [name, from === undefined ? value : scheme + host.secret(from).reveal()];
      }),
    );
    const exporter = openExporter({ url: urlOf(asked.url), headers, timeoutMs }, clock);
    const queue = new SpanQueue(exporter, { size: queueSize, periodMs, clock, log });
    const resource = resourceOf(asked.serviceName ?? serviceNameOfEnvironment() ?? "signalbox", asked.resource);
    return {
      trace: (requestHeaders) => sampledTrace(requestHeaders, { ratio, followParent }, random),
      finished(outcome) {
        if (outcome.trace !== undefined) queue.add(spansOf(outcome, outcome.trace, resource));
      },
      trouble: () => (queue.fault === "" ? "" : `spans are lost (${queue.fault})`),
      dispose: () => queue.close(),
    };
  },
});

function urlOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const url = new URL(text);
  if (url.pathname === "/") url.pathname = "/v1/traces";
  return url.href;
}

function serviceNameOfEnvironment(): string | undefined {
  try {
    return globalThis.process?.env["OTEL_SERVICE_NAME"] || undefined;
  } catch {
    // A runtime may forbid it.
    return undefined;
  }
}

/** The exporter reads nothing else of a resource. */
function resourceOf(serviceName: string, others: Readonly<Record<string, string | number | boolean>>): Span["resource"] {
  return { attributes: { "service.name": serviceName, ...others } } as unknown as Span["resource"];
}
