import { innerSpanId, type Trace } from "../contract/trace.ts";

/** The `traceparent` line of the try with this span number: what the replica does for it belongs to that span. */
export function traceLine(trace: Trace, span: number): string {
  return `traceparent: 00-${trace.traceId}-${innerSpanId(trace, span)}-01\r\n`;
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
