import { constants, fstatSync, openSync, write } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { isatty } from "node:tty";

/**
 * Writes to one of the program's outputs without blocking the event loop. Begin one write at a time. Resolves to the number of
 * bytes that were taken; 0 means none now, so try again later. Rejects when no byte can be written any more.
 */
export type WriteSome = (bytes: Uint8Array) => Promise<number>;

export type OutputNumber = 1 | 2;

/** Errors after which the output takes bytes again once somebody has read, or has made room on the disk. */
const PASSING = new Set(["EAGAIN", "EINTR", "ENOSPC", "EDQUOT", "EIO"]);
/** Those of a disk that is full, or of a user's share of it. */
const FULL = new Set(["ENOSPC", "EDQUOT"]);

interface DenoOutputs {
  readonly stdout: { write(bytes: Uint8Array): Promise<number> };
  readonly stderr: { write(bytes: Uint8Array): Promise<number> };
}

/**
 * Opens the standard output (1) or the standard error (2). `onFull` is called for each write that a full disk refuses.
 *
 * Deno: a write of `process.stdout` blocks; a write of `Deno.stdout` happens in a thread.
 * Node and Bun: a pipe is written by a stream that waits in the event loop; a file is written by a thread, and tried again when the
 * disk was full. A terminal blocks a stream: on Node unless the stream is told not to; on Bun always, so a thread writes it.
 */
export function openOutput(output: OutputNumber, onFull: (thrown: unknown) => void = () => {}): WriteSome {
  const noneIfPassing = (thrown: unknown) => {
    const code = String((thrown as { code?: unknown } | null)?.code);
    if (!PASSING.has(code)) throw thrown;
    if (FULL.has(code)) onFull(thrown);
    return 0;
  };
  const { Deno } = globalThis as { Deno?: DenoOutputs };
  if (Deno !== undefined) {
    const target = output === 1 ? Deno.stdout : Deno.stderr;
    return (bytes) => target.write(bytes).catch(noneIfPassing);
  }
  const isBun = process.versions["bun"] !== undefined;
  if (isatty(output)) return isBun ? byThread(output, noneIfPassing) : byStream(unblocked(standardStream(output)));
  if (!isPipe(output)) return byThread(output, noneIfPassing);
  return byStream((isBun ? undefined : ownPipe(output)) ?? standardStream(output));
}

function standardStream(output: OutputNumber): Writable {
  return output === 1 ? process.stdout : process.stderr;
}

function isPipe(output: OutputNumber): boolean {
  const stat = fstatSync(output);
  return stat.isFIFO() || stat.isSocket();
}

/** Undocumented: on Node, the handle of a terminal's stream. */
interface HandleOwner {
  readonly _handle?: { setBlocking?(isBlocking: boolean): unknown } | null;
}

function unblocked(stream: Writable): Writable {
  (stream as HandleOwner)._handle?.setBlocking?.(false);
  return stream;
}

/**
 * The pipe, opened once more. Whether writes to a pipe block is a property of the opening, which we share with the programs that
 * started us or that we started: Node makes it non-blocking, any of them can make it blocking again. Undefined for a socket and
 * where there is no /proc.
 */
function ownPipe(output: OutputNumber): Writable | undefined {
  try {
    const fd = openSync(`/proc/self/fd/${output}`, constants.O_WRONLY | constants.O_NONBLOCK);
    return new Socket({ fd, readable: false, writable: true }).unref();
  } catch {
    return undefined;
  }
}

function byStream(stream: Writable): WriteSome {
  // Whoever opens an output deals with its errors: the callback of each write gets them, and what ended the program at one does so no
  // more. Without a listener they would count as uncaught.
  stream.removeAllListeners("error").on("error", () => {});
  return (bytes) =>
    new Promise((resolve, reject) => {
      stream.write(bytes, (error) => (error ? reject(error) : resolve(bytes.length)));
    });
}

function byThread(output: OutputNumber, noneIfPassing: (thrown: unknown) => number): WriteSome {
  const once = (bytes: Uint8Array) =>
    new Promise<number>((resolve, reject) => {
      write(output, bytes, 0, bytes.length, null, (error, taken) => (error ? reject(error) : resolve(taken)));
    });
  return (bytes) => once(bytes).catch(noneIfPassing);
}
