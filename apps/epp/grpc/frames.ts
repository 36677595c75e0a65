/** Types of HTTP/2 frames (RFC 9113, section 6). */
export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Bits of a frame's flags. The first one means something else in each type. */
export const FLAG = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** Why a stream or a connection ends (RFC 9113, section 7). */
export const CODE = {
  none: 0,
  protocol: 1,
  internal: 2,
  flowControl: 3,
  streamClosed: 5,
  frameSize: 6,
  refused: 7,
  cancel: 8,
  compression: 9,
  enhanceYourCalm: 11,
} as const;

/** Identifiers of settings (RFC 9113, 6.5.2). */
export const SETTING = { enablePush: 2, maxConcurrentStreams: 3, initialWindow: 4, maxFrame: 5, maxHeaderList: 6 } as const;

/** What every peer may assume before it is told otherwise. */
export const DEFAULT_WINDOW = 65_535;
export const DEFAULT_FRAME_BYTES = 16_384;
export const LARGEST_WINDOW = 2 ** 31 - 1;
export const FRAME_HEAD_BYTES = 9;

/** What a client sends first. */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/** The peer broke the protocol: the connection ends with this code. */
export class ConnectionError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export function protocolError(message: string): ConnectionError {
  return new ConnectionError(CODE.protocol, message);
}

export function checkSize(isRight: boolean): void {
  if (!isRight) throw new ConnectionError(CODE.frameSize, "A frame of the wrong size");
}

/** A frame's head; its payload follows. */
export function frameHead(type: number, flags: number, stream: number, bytes: number): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
  putFrameHead(head, 0, type, flags, stream, bytes);
  return head;
}

export function putFrameHead(into: Buffer, at: number, type: number, flags: number, stream: number, bytes: number): void {
  into.writeUIntBE(bytes, at, 3);
  into[at + 3] = type;
  into[at + 4] = flags;
  into.writeUInt32BE(stream, at + 5);
}

/** A frame whose payload is these 32-bit numbers. */
export function numbersFrame(type: number, stream: number, numbers: readonly number[]): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + 4 * numbers.length);
  putFrameHead(frame, 0, type, 0, stream, 4 * numbers.length);
  for (let i = 0; i < numbers.length; i++) frame.writeUInt32BE(numbers[i]!, FRAME_HEAD_BYTES + 4 * i);
  return frame;
}

export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + 6 * settings.length);
  putFrameHead(frame, 0, TYPE.settings, 0, 0, 6 * settings.length);
  settings.forEach(([id, value], index) => {
    frame.writeUInt16BE(id, FRAME_HEAD_BYTES + 6 * index);
    frame.writeUInt32BE(value, FRAME_HEAD_BYTES + 6 * index + 2);
  });
  return frame;
}
