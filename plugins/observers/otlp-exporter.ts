import type { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import type { Clock } from "../../core/contract/clock.ts";
import { printable } from "../../core/contract/printable.ts";
import { afterAwake } from "../../core/contract/standstill.ts";
import { thrownMessage } from "../../core/contract/thrown-text.ts";

// The only file that knows OpenTelemetry's packages. They are loaded only by programs whose config lists the plugin.

/** A finished span, as the exporter takes it. */
export type Span = Parameters<OTLPTraceExporter["export"]>[0][number];

export interface ExporterOptions {
  /** Undefined: what OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_EXPORTER_OTLP_ENDPOINT says, or http://localhost:4318/v1/traces. */
  readonly url: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** For one export, its retries included. */
  readonly timeoutMs: number;
}

export interface SpanExporter {
  /** Resolves with "" when the receiver has the spans, or with the reason why it has not. Never rejects. */
  send(spans: readonly Span[]): Promise<string>;
  /** Cuts what is under way; nothing can be sent any more. */
  close(): void;
}

interface Agent {
  destroy(): void;
}

const MOST_REASON_CHARS = 200;
const PACKAGE = "@opentelemetry/exporter-trace-otlp-http";
let packages: Awaited<ReturnType<typeof importPackages>> | undefined;

async function importPackages() {
  const [exporter, http, https] = await Promise.all([
    import("@opentelemetry/exporter-trace-otlp-http"),
    import("node:http"),
    import("node:https"),
  ]);
  return { OTLPTraceExporter: exporter.OTLPTraceExporter, http, https };
}

/** Loads the packages. Rejects with an Error that says how to install them. */
export async function loadExporter(): Promise<void> {
  try {
    packages ??= await importPackages();
  } catch (thrown) {
    const isMissing = thrown instanceof Error && "code" in thrown && /MODULE_NOT_FOUND$/.test(String(thrown.code));
    const cause = isMissing ? "it is not installed" : thrownMessage(thrown);
    throw new Error(`It needs the package ${PACKAGE} (${cause}): npm install ${PACKAGE}@0.223.1`, { cause: thrown });
  }
}

/**
 * Opens the official exporter. Two things are added: an export ends after `timeoutMs` even if the receiver sends a byte now and then
 * or never accepts the connection, and `close` ends one at once. Throws an Error before `loadExporter` has resolved.
 */
export function openExporter({ url, headers, timeoutMs }: ExporterOptions, clock: Clock): SpanExporter {
  if (packages === undefined) throw new Error("The exporter is not loaded");
  const { OTLPTraceExporter, http, https } = packages;
  let agent: Agent | undefined;
  let isClosed = false;
  let isLate = false;
  const late = `no response within ${timeoutMs} ms`;
  const exporter = new OTLPTraceExporter({
    ...(url !== undefined && { url }),
    timeoutMillis: timeoutMs,
    // One more than is ever under way: a finished one is counted for a moment longer.
    concurrencyLimit: 2,
    // Asked before each try, so what it throws ends the retries.
    headers: async () => {
      if (isClosed || isLate) throw new Error(isClosed ? "the router stops" : late);
      return { ...headers };
    },
    httpAgentOptions: (protocol) => {
      const made = new (protocol === "http:" ? http : https).Agent({ keepAlive: true, maxSockets: 1 });
      agent = made;
      return made;
    },
  });
  return {
    send: (spans) =>
      new Promise((resolve) => {
        isLate = false;
        const cancel = afterAwake(clock, timeoutMs, () => {
          isLate = true;
          agent?.destroy();
        });
        const end = (reason: string) => {
          cancel();
          resolve(reason);
        };
        try {
          exporter.export([...spans], ({ error }) => end(error === undefined ? "" : isLate ? late : reasonOf(error)));
        } catch (thrown) {
          end(thrownMessage(thrown));
        }
      }),
    close() {
      isClosed = true;
      agent?.destroy();
    },
  };
}

/** In a few words, with the HTTP status if there is one. */
function reasonOf(error: Error): string {
  const status = "code" in error && typeof error.code === "number" ? `${error.code} ` : "";
  return printable(`${status}${error.message}`.slice(0, MOST_REASON_CHARS)) || "no reason given";
}
