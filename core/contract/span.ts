/** Half-open byte range [start, end). */
export type Span = readonly [start: number, end: number];
