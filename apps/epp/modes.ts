/** How a gateway sends bodies (envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode). */
export const MODE = { none: 0, streamed: 1, buffered: 2, bufferedPartial: 3, duplex: 4 } as const;
