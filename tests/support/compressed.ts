import * as zlib from "node:zlib";

type Compress = (bytes: Buffer) => Buffer;
const { zstdCompressSync } = zlib as unknown as { readonly zstdCompressSync?: Compress };
/** What the runtime can compress, by the names that clients give it. */
export const CODINGS: readonly (readonly [coding: string, compress: Compress])[] = [
  ["gzip", (bytes) => zlib.gzipSync(bytes)],
  ["x-gzip", (bytes) => zlib.gzipSync(bytes)],
  ["GZIP", (bytes) => zlib.gzipSync(bytes)],
  ["br", (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 2 } })],
  ...(zstdCompressSync === undefined ? [] : ([["zstd", zstdCompressSync]] as const)),
];

/** Text that does not compress well, the same each time. */
export function randomText(length: number): string {
  const bytes = Buffer.alloc(length);
  let state = 1;
  for (let at = 0; at < length; at++) {
    state = (state * 48_271) % 0x7fffffff;
    bytes[at] = 97 + (state % 26);
  }
  return bytes.toString("latin1");
}
