import { OPCODE } from "./frame-header.ts";

const UTF8 = new TextEncoder();
const FINAL = 0x80;
const MASKED = 0x80;
/** A control frame has at most 125 bytes, two of which are the code. */
const MOST_REASON_BYTES = 123;

// Frames that are written here: to clients without a mask, to servers with one.

export function textFrame(text: string): Buffer {
  return frame(OPCODE.text, [UTF8.encode(text)], undefined);
}

/** `isMasked`: it is for a server. */
export function pongFrame(payload: Uint8Array, isMasked = false): Buffer {
  return frame(OPCODE.pong, [payload], isMasked ? newMask() : undefined);
}

/** Its payload is empty, and so is that of the answer. */
export function pingFrame(isMasked: boolean): Buffer {
  return frame(OPCODE.ping, [], isMasked ? newMask() : undefined);
}

export function closeFrame(code: number, reason: string, isMasked = false): Buffer {
  const text = new Uint8Array(MOST_REASON_BYTES);
  const { written } = UTF8.encodeInto(reason, text);
  return frame(
    OPCODE.close,
    [Uint8Array.of(code >> 8, code & 0xff), text.subarray(0, written)],
    isMasked ? newMask() : undefined,
  );
}

/** One message as a client sends it. */
export function maskedText(parts: readonly Uint8Array[]): Buffer {
  return frame(OPCODE.text, parts, newMask());
}

function newMask(): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(4));
}

function frame(opcode: number, parts: readonly Uint8Array[], mask: Uint8Array | undefined): Buffer {
  let length = 0;
  for (const part of parts) length += part.length;
  const header = frameHeader(opcode, length, true, mask);
  const whole = Buffer.allocUnsafe(header.length + length);
  whole.set(header);
  let at = header.length;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  if (mask !== undefined) for (let index = 0; index < length; index++) whole[header.length + index]! ^= mask[index & 3]!;
  return whole;
}

/** `isFinal`: no other fragment of the message follows. */
export function frameHeader(opcode: number, length: number, isFinal: boolean, mask?: Uint8Array): Buffer {
  const extended = length < 126 ? 0 : length < 65_536 ? 2 : 8;
  const header = Buffer.alloc(2 + extended + (mask?.length ?? 0));
  header[0] = (isFinal ? FINAL : 0) | opcode;
  header[1] = (mask === undefined ? 0 : MASKED) | (extended === 0 ? length : extended === 2 ? 126 : 127);
  if (extended > 0) header.writeUIntBE(length, 2 + Math.max(0, extended - 6), Math.min(6, extended));
  if (mask !== undefined) header.set(mask, 2 + extended);
  return header;
}
