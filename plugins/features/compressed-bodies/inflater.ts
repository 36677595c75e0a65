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
  readonly constants: { readonly ZSTD_d_windowLogMax: number };
}

function zstd(): readonly (readonly [string, Make])[] {
  const { createZstdDecompress, constants } = zlib as unknown as WithZstd;
  if (createZstdDecompress === undefined) return [];
  const params = { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG };
  return [["zstd", () => createZstdDecompress({ chunkSize: CHUNK_BYTES, params })]];
}
