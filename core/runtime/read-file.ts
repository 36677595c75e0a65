import { closeSync, constants, fstatSync, openSync, read, readSync, type Stats, statSync } from "node:fs";
import { open, stat } from "node:fs/promises";
import { clearTimeout, setTimeout } from "node:timers";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

/** Why something is not read, and what to do. The message goes on behind "FILE can't be read: ". */
export class UnreadableFile extends Error {
  readonly fix: string;

  constructor(message: string, fix: string) {
    super(message);
    this.fix = fix;
  }
}

/** A named pipe opens at once, whoever writes to it, and a terminal does not become the process's own. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const READ_BYTES = 64 * 1024;

/** How long a file may take: the disk behind it may be a network share that does not answer. */
const FILE_MS = 5_000;

/** Who started the program has opened these for it: its standard input, or what a shell makes of <(COMMAND). */
const HANDED_OVER = /^\/(?:dev\/(?:stdin|fd\/\d+)|proc\/self\/fd\/\d+)$/;
/** As long may a command take that writes them, or a person who types. */
const HANDED_OVER_MS = 60_000;
const LOOK_MS = 10;

export function isHandedOver(path: string): boolean {
  return HANDED_OVER.test(path);
}

/**
 * Reads a file, but at most one byte more than `mostBytes`. Rejects with the system's error; with UnreadableFile for what is no regular
 * file (a pipe may never end, a device may do anything), unless it was handed over, and for what takes longer than `withinMs`.
 */
export async function readBounded(
  path: string,
  mostBytes: number,
  withinMs = isHandedOver(path) ? HANDED_OVER_MS : FILE_MS,
): Promise<Buffer> {
  const late = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late.abort();
      reject(
        new UnreadableFile(
          `it was not read to its end within ${withinMs / 1_000} s`,
          "Look at the disk or the program behind it.",
        ),
      );
    }, withinMs);
  });
  try {
    return await Promise.race([readAll(path, mostBytes, late.signal), tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** The same in one go, without a bound of time: for files that are small and on the machine. Nothing is handed over to it. */
export function readBoundedNow(path: string, mostBytes: number): Buffer {
  refuseIrregular(statSync(path));
  const file = openSync(path, FLAGS);
  try {
    refuseIrregular(fstatSync(file));
    const chunks: Buffer[] = [];
    for (let left = mostBytes + 1; left > 0; ) {
      const chunk = Buffer.allocUnsafe(Math.min(left, READ_BYTES));
      const bytes = readSync(file, chunk, 0, chunk.length, null);
      if (bytes === 0) break;
      chunks.push(chunk.subarray(0, bytes));
      left -= bytes;
    }
    return Buffer.concat(chunks);
  } finally {
    closeSync(file);
  }
}

/** Rejects, as `readBounded` does, for what must not be read, without reading it. */
export async function checkRegular(path: string): Promise<void> {
  if (!isHandedOver(path)) refuseIrregular(await stat(path));
}

async function readAll(path: string, mostBytes: number, late: AbortSignal): Promise<Buffer> {
  // Before it is opened: whoever waits to write into a pipe would notice.
  await checkRegular(path);
  const file = await opened(path);
  try {
    // Another file may have come to this path meanwhile.
    if (file.stat !== undefined) refuseIrregular(await file.stat());
    const chunks: Buffer[] = [];
    for (let left = mostBytes + 1; left > 0 && !late.aborted; ) {
      const chunk = Buffer.allocUnsafe(Math.min(left, READ_BYTES));
      const bytes = await readSome(file, chunk, late);
      if (bytes === 0) break;
      chunks.push(chunk.subarray(0, bytes));
      left -= bytes;
    }
    return Buffer.concat(chunks);
  } finally {
    await file.close();
  }
}

/** What bytes are read from. */
interface Source {
  /** Absent where anything may be read. */
  stat?(): Promise<Stats>;
  read(chunk: Buffer, offset: number, length: number, position: null): Promise<{ readonly bytesRead: number }>;
  close(): Promise<void>;
}

async function opened(path: string): Promise<Source> {
  try {
    const file = await open(path, FLAGS);
    return isHandedOver(path) ? { read: file.read.bind(file), close: file.close.bind(file) } : file;
  } catch (thrown) {
    // A socket can't be opened anew: another program has started this one with it.
    if ((thrown as NodeJS.ErrnoException).code !== "ENXIO" || !isHandedOver(path)) throw thrown;
    const descriptor = Number(/\d+$/.exec(path)?.[0] ?? 0);
    return { read: (...args) => readDescriptor(descriptor, ...args), close: async () => {} };
  }
}

const readDescriptor = promisify(read);

/** The count of bytes; 0 at the end. Waits for whoever has not written yet. */
async function readSome(file: Source, chunk: Buffer, late: AbortSignal): Promise<number> {
  while (!late.aborted) {
    try {
      return (await file.read(chunk, 0, chunk.length, null)).bytesRead;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "EAGAIN") throw thrown;
    }
    await wait(LOOK_MS);
  }
  return 0;
}

function refuseIrregular(stats: Stats): void {
  if (stats.isFile()) return;
  const kind = stats.isDirectory() ? "a folder" : stats.isFIFO() ? "a named pipe" : stats.isSocket() ? "a socket" : "a device";
  throw new UnreadableFile(`it is ${kind}, not a regular file`, "Name a regular file, or a link to one.");
}
