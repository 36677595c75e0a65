import type { ActiveConfig } from "../active-config.ts";
import type { Trace } from "../contract/trace.ts";
import { type FaultReporter, faultText } from "../plugin-watch/plugin-faults.ts";
import type { Head } from "../wire/head.ts";

const TRACE_ID = /^[0-9a-f]{32}$/;
const SPAN_ID = /^[1-9a-f][0-9a-f]{15}$/;

/** Asks the observer that traces requests, if there is one, for this one's trace. If it breaks its contract, the request has none. */
export function traceRequest(tracer: ActiveConfig["tracer"], head: Head, faults: FaultReporter): Trace | undefined {
  if (tracer === undefined) return undefined;
  try {
    const trace = tracer.plugin.trace(head);
    // Its ids go into a header.
    if (trace === undefined || (TRACE_ID.test(trace.traceId) && SPAN_ID.test(trace.spanId))) return trace;
    faults.report(tracer.name, "it gave a trace without proper ids");
  } catch (thrown) {
    faults.report(tracer.name, faultText(thrown, tracer.file));
  }
  return undefined;
}
