/** A header as HPACK's tables hold it. */
export type Field = readonly [name: string, value: string];

/** What every connection has from the start (RFC 7541, appendix A), from index 1. */
const STATIC: readonly Field[] = [
  ...[[":authority", ""] as const, [":method", "GET"] as const, [":method", "POST"] as const, [":path", "/"] as const],
  ...[[":path", "/index.html"] as const, [":scheme", "http"] as const, [":scheme", "https"] as const],
  ...["200", "204", "206", "304", "400", "404", "500"].map((status) => [":status", status] as const),
  ...[["accept-charset", ""] as const, ["accept-encoding", "gzip, deflate"] as const],
  ...[
    ...["accept-language", "accept-ranges", "accept", "access-control-allow-origin", "age", "allow", "authorization"],
    ...["cache-control", "content-disposition", "content-encoding", "content-language", "content-length"],
    ...["content-location", "content-range", "content-type", "cookie", "date", "etag", "expect", "expires", "from", "host"],
    ...["if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "last-modified", "link"],
    ...["location", "max-forwards", "proxy-authenticate", "proxy-authorization", "range", "referer", "refresh"],
    ...["retry-after", "server", "set-cookie", "strict-transport-security", "transfer-encoding", "user-agent", "vary", "via"],
    "www-authenticate",
  ].map((name) => [name, ""] as const),
];

/** What an entry counts for beside its name and value (RFC 7541, 4.1). */
const ENTRY_BYTES = 32;

/** The headers that both ends of a connection know by number: those of the standard, then the newest that were sent. */
export class HeaderTable {
  /** The newest one last. */
  readonly #entries: Field[] = [];
  #bytes = 0;
  #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Undefined for an index that stands for nothing. */
  at(index: number): Field | undefined {
    if (index <= STATIC.length) return STATIC[index - 1];
    return this.#entries[this.#entries.length - (index - STATIC.length)];
  }

  add(field: Field): void {
    const bytes = sizeOf(field);
    this.#shrinkTo(this.#maxBytes - bytes);
    if (bytes > this.#maxBytes) return;
    this.#entries.push(field);
    this.#bytes += bytes;
  }

  resize(maxBytes: number): void {
    this.#maxBytes = maxBytes;
    this.#shrinkTo(maxBytes);
  }

  #shrinkTo(bytes: number): void {
    let dropped = 0;
    while (this.#bytes > bytes && dropped < this.#entries.length) {
      this.#bytes -= sizeOf(this.#entries[dropped]!);
      dropped += 1;
    }
    if (dropped > 0) this.#entries.splice(0, dropped);
  }
}

export function sizeOf([name, value]: Field): number {
  return name.length + value.length + ENTRY_BYTES;
}
