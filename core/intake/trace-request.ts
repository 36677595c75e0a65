import type { ActiveConfig } from "../active-config.ts";
import type { Log } from "../contract/log.ts";
import { thrownText } from "../contract/thrown-text.ts";
import type { Trace } from "../contract/trace.ts";
import type { Head } from "../wire/head.ts";

const TRACE_ID = /^[0-9a-f]{32}$/;
const SPAN_ID = /^[1-9a-f][0-9a-f]{15}$/;

/** Asks the observer that traces requests, if there is one, for this one's trace. What it breaks leaves the request untraced. */
export function traceRequest({ tracer }: Pick<ActiveConfig, "tracer">, head: Head, log: Log): Trace | undefined {
  if (tracer === undefined) return undefined;
  try {
    const trace = tracer.plugin.trace(head);
    // Its ids go into a header.
    if (trace === undefined || (TRACE_ID.test(trace.traceId) && SPAN_ID.test(trace.spanId))) return trace;
    log.warn("An observer gave a trace without proper ids", { plugin: tracer.name });
  } catch (thrown) {
    log.warn("An observer failed", { plugin: tracer.name, fault: thrownText(thrown) });
  }
  return undefined;
}
