import { FIRST_TRY, innerSpanId, type Trace } from "../contract/trace.ts";

/** The `traceparent` line of a try after `tries` others: what the replica does for it belongs to the try's span. */
export function traceLine(trace: Trace, tries: number): string {
  return `traceparent: 00-${trace.traceId}-${innerSpanId(trace, FIRST_TRY + tries)}-01\r\n`;
}

/**
 * Header lines, each with its CRLF, without the client's `traceparent`. Its `tracestate` goes too where a trace begins here: it
 * belongs to another one.
 */
export function withoutTraceLines(lines: string, { parentId }: Trace): string {
  return parentId === "" ? withoutTraces(lines) : lines.replace(/^traceparent:[^\r\n]*\r\n/gim, "");
}

/** Header lines, each with its CRLF, without any word of a trace. */
export function withoutTraces(lines: string): string {
  return lines.replace(/^trace(?:parent|state):[^\r\n]*\r\n/gim, "");
}
