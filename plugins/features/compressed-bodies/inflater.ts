import type { Transform } from "node:stream";
import * as zlib from "node:zlib";

const CHUNK_BYTES = 64 * 1024;
/** RFC 8878, 3.1.1.1.2: the largest window that a decoder should expect to need, 8 MiB. Larger ones would cost memory before a byte comes out. */
const ZSTD_WINDOW_LOG = 23;

export type Inflater = Transform;
type Make = () => Inflater;

/** What this runtime can inflate, by its name in Content-Encoding. Node 20 has no zstd. */
const MAKERS: ReadonlyMap<string, Make> = new Map<string, Make>([
  ["gzip", () => zlib.createGunzip({ chunkSize: CHUNK_BYTES })],
  ["br", () => zlib.createBrotliDecompress({ chunkSize: CHUNK_BYTES })],
  ...zstd(),
]);

export const CODINGS: readonly string[] = [...MAKERS.keys()];

/** A stream that inflates this coding; undefined for one that the runtime does not know, and for several. */
export function inflaterFor(coding: string): Inflater | undefined {
  // RFC 9110 8.4.1.3: the older name.
  return MAKERS.get(coding === "x-gzip" ? "gzip" : coding)?.();
}

/** What newer runtimes have in node:zlib. */
interface WithZstd {
  readonly createZstdDecompress?: (options: { chunkSize: number; params: Record<number, number> }) => Inflater;
  readonly zstdDecompressSync?: (bytes: Uint8Array, options: zlib.ZlibOptions & { params: Record<number, number> }) => Buffer;
  readonly constants: { readonly ZSTD_d_windowLogMax: number; readonly ZSTD_e_flush: number };
}

function zstd(): readonly (readonly [string, Make])[] {
  const { createZstdDecompress, constants } = zlib as unknown as WithZstd;
  if (createZstdDecompress === undefined) return [];
  const params = { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG };
  return [["zstd", () => createZstdDecompress({ chunkSize: CHUNK_BYTES, params })]];
}

type InflateAtOnce = (bytes: Uint8Array, most: number) => Buffer;

/** What comes of the first bytes of a body counts too: a flush takes it out where the end is missing. */
const AT_ONCE: ReadonlyMap<string, InflateAtOnce> = new Map<string, InflateAtOnce>([
  ["gzip", (bytes, most) => zlib.gunzipSync(bytes, deflateOptions(most))],
  // RFC 9110 8.4.1.2: some servers send it without the frame of zlib.
  ["deflate", (bytes, most) => (hasZlibFrame(bytes) ? zlib.inflateSync : zlib.inflateRawSync)(bytes, deflateOptions(most))],
  [
    "br",
    (bytes, most) =>
      zlib.brotliDecompressSync(bytes, {
        maxOutputLength: most,
        chunkSize: CHUNK_BYTES,
        finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH,
      }),
  ],
  ...zstdAtOnce(),
]);

/** How the whole body of one coding is inflated at once; undefined for a coding that the runtime does not know. */
export function inflateAtOnce(coding: string): InflateAtOnce | undefined {
  return AT_ONCE.get(coding.replace(/^x-/, ""));
}

function zstdAtOnce(): readonly (readonly [string, InflateAtOnce])[] {
  const { zstdDecompressSync, constants } = zlib as unknown as WithZstd;
  if (zstdDecompressSync === undefined) return [];
  const params = { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG };
  const finishFlush = constants.ZSTD_e_flush;
  return [
    ["zstd", (bytes, most) => zstdDecompressSync(bytes, { maxOutputLength: most, chunkSize: CHUNK_BYTES, finishFlush, params })],
  ];
}

function deflateOptions(most: number): zlib.ZlibOptions {
  return { maxOutputLength: most, chunkSize: CHUNK_BYTES, finishFlush: zlib.constants.Z_SYNC_FLUSH };
}

/** RFC 1950 2.2: the first two bytes say so. */
function hasZlibFrame([method = 0, flags = 0]: Uint8Array): boolean {
  return (method & 0x0f) === 8 && (method * 256 + flags) % 31 === 0;
}
