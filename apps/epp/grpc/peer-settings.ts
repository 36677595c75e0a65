import {
  CODE,
  ConnectionError,
  checkSize,
  DEFAULT_FRAME_BYTES,
  DEFAULT_WINDOW,
  LARGEST_WINDOW,
  protocolError,
  SETTING,
} from "./frames.ts";

const MOST_FRAME_BYTES = 0xff_ffff;
const ENTRY_BYTES = 6;

/** What the peer's SETTINGS say, as far as it matters here (RFC 9113 6.5.2). */
export class PeerSettings {
  /** Largest payload of a frame to the peer. */
  maxFrameBytes = DEFAULT_FRAME_BYTES;
  /** What the peer takes on each stream before it widens the window. */
  initialWindow = DEFAULT_WINDOW;

  /** Reads the payload of one frame. Throws ConnectionError for values that may not be. */
  read(chunk: Buffer, start: number, end: number): void {
    checkSize((end - start) % ENTRY_BYTES === 0);
    for (let at = start; at < end; at += ENTRY_BYTES) this.#set(chunk.readUInt16BE(at), chunk.readUInt32BE(at + 2));
  }

  #set(id: number, value: number): void {
    if (id === SETTING.maxFrame) {
      if (value < DEFAULT_FRAME_BYTES || value > MOST_FRAME_BYTES) throw protocolError("A frame size that may not be");
      this.maxFrameBytes = value;
    } else if (id === SETTING.enablePush) {
      if (value > 1) throw protocolError("A switch that is neither on nor off");
    } else if (id === SETTING.initialWindow) {
      if (value > LARGEST_WINDOW) throw new ConnectionError(CODE.flowControl, "A window that may not be");
      this.initialWindow = value;
    }
  }
}
