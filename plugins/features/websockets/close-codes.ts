/** Why a WebSocket ends, of those codes that the router itself gives (RFC 6455 7.4.1, and 1013 of its registry). */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  protocolError: 1002,
  unsupportedData: 1003,
  policy: 1008,
  tooBig: 1009,
  internalError: 1011,
  tryAgainLater: 1013,
} as const;

/** The code for an error that came as the answer to a first message. */
export function closeCodeOf(status: number): number {
  if (status === 413) return CLOSE.tooBig;
  if (status === 429 || status === 503) return CLOSE.tryAgainLater;
  return status >= 500 ? CLOSE.internalError : CLOSE.policy;
}
