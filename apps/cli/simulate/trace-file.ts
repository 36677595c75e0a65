import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { checkRegular, UnreadableFile } from "../../../core/runtime/read-file.ts";
import { TraceReader } from "../../lab/simulate/read-trace.ts";
import type { Trace } from "../../lab/simulate/trace.ts";

/**
 * Reads a trace from a file, compressed if its name ends in .gz. Rejects with an Error that names the file, and the line if
 * the fault is in one.
 */
export async function readTraceFile(path: string): Promise<Trace> {
  const reader = new TraceReader(basename(path));
  const decoder = new TextDecoder();
  let lineError: unknown;
  const take = async (chunks: AsyncIterable<Uint8Array>) => {
    for await (const chunk of chunks) {
      try {
        reader.push(decoder.decode(chunk, { stream: true }));
      } catch (thrown) {
        lineError = thrown;
        throw thrown;
      }
    }
  };
  try {
    await checkRegular(path);
    if (path.endsWith(".gz")) await pipeline(createReadStream(path), createGunzip(), take);
    else await pipeline(createReadStream(path), take);
  } catch (thrown) {
    // When reading stops early, the decompressor fails too, and some runtimes report its error instead of the first one.
    throw lineError ?? fileError(thrown, path);
  }
  return reader.end();
}

function fileError(thrown: unknown, path: string): unknown {
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
  if (code === "ENOENT") return new Error(`There is no file ${path}; name a trace to replay.`);
  if (thrown instanceof UnreadableFile) return new Error(`${path} can't be read: ${thrown.message}. ${thrown.fix}`);
  if (code === "EACCES") return new Error(`${path} may not be read; check its permissions.`);
  if (code.startsWith("Z_"))
    return new Error(`${path} is not a whole gzip file; leave ".gz" out of its name if it is not compressed.`);
  return thrown;
}
