/**
 * Half-open byte range [start, end).
 *
 * @example
 * const prompt = request.promptSpans.map(([start, end]) => request.body.subarray(start, end));
 */
export type Span = readonly [start: number, end: number];
