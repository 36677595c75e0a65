/** Why a WebSocket ends, of those codes that are given here (RFC 6455 7.4.1, and 1013 of its registry). */
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
