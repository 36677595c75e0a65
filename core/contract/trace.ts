/** The trace of a request that is recorded (W3C Trace Context). Ids are in lower-case hex, as `traceparent` has them. */
export interface Trace {
  /** 32 digits. */
  readonly traceId: string;
  /** The router's span of the whole request: 16 digits, the first of which is not 0. */
  readonly spanId: string;
  /** The caller's span, 16 digits; "" where the trace begins at this router. */
  readonly parentId: string;
  /** The caller's `tracestate`; "" if it has none. */
  readonly state: string;
}

/** Numbers of the spans inside a request's span. The first try at an endpoint is FIRST_TRY, the second FIRST_TRY + 1 … */
export const ADMISSION = 1;
export const DECISION = 2;
export const FIRST_TRY = 3;
/** The same of tries for a prompt on an endpoint of its own. */
export const FIRST_PROMPT_TRY = FIRST_TRY + 64;

/**
 * The id of span `number` (an integer from 1) inside a request's span. It follows from the request's id, so that it is in the header
 * of a try and, after the request has ended, in the try's span, and nobody has to keep it in between.
 *
 * @example
 * const spanOfFirstTry = innerSpanId(trace, FIRST_TRY);
 */
export function innerSpanId({ spanId }: Trace, number: number): string {
  const low = (Number.parseInt(spanId.slice(8), 16) + number) >>> 0;
  return spanId.slice(0, 8) + low.toString(16).padStart(8, "0");
}
