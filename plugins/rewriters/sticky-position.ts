const UTF8 = new TextEncoder();

/** A position in [0, 1) that depends only on the texts: FNV-1a of their UTF-8 bytes, mixed to spread similar texts. */
export function stickyPosition(scope: string, value: string): number {
  let hash = 0x811c9dc5;
  for (const byte of UTF8.encode(`${scope}\0${value}`)) hash = Math.imul(hash ^ byte, 0x01000193);
  return mixed(hash) / 2 ** 32;
}

/** The finalizer of MurmurHash3: each input bit changes about half of the output bits. */
function mixed(hash: number): number {
  let bits = hash;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
