const UTF8 = new TextEncoder();

/** A place in [0, 1) that depends on the texts alone: FNV-1a over their UTF-8 bytes, mixed so that similar texts lie far apart. */
export function stickyPosition(scope: string, value: string): number {
  let hash = 0x811c9dc5;
  for (const byte of UTF8.encode(`${scope}\0${value}`)) hash = Math.imul(hash ^ byte, 0x01000193);
  return mixed(hash) / 2 ** 32;
}

/** MurmurHash3's finalizer: every input bit changes half of the output bits. */
function mixed(hash: number): number {
  let bits = hash;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
