import type { Readable } from "node:stream";

const LINE_FEED = 10;
/** A longer line is passed on in parts. */
const MOST_BYTES = 1024 * 1024;

/** Passes on what a stream brings, in whole lines, so that the lines of several don't mix. */
export function passLines(from: Readable, write: (lines: Uint8Array) => void): void {
  let rest: Uint8Array[] = [];
  let restBytes = 0;
  const pass = (last: Uint8Array) => {
    write(rest.length === 0 ? last : Buffer.concat([...rest, last]));
    rest = [];
    restBytes = 0;
  };
  const keep = (bytes: Uint8Array) => {
    if (bytes.length === 0) return;
    rest.push(bytes);
    restBytes += bytes.length;
    if (restBytes >= MOST_BYTES) pass(Buffer.from("\n"));
  };
  from.on("data", (chunk: Buffer) => {
    const end = chunk.lastIndexOf(LINE_FEED) + 1;
    if (end > 0) pass(chunk.subarray(0, end));
    keep(chunk.subarray(end));
  });
  // A process that was killed may have written half a line.
  from.once("close", () => {
    if (restBytes > 0) pass(Buffer.from("\n"));
  });
  from.on("error", () => {});
}
