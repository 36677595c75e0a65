import { startModule } from "../runtime/wasm.ts";
import { ESCAPE_CLASSES } from "./string-run.ts";
import { TEXT_SCAN_MODULE } from "./text-scan-module.ts";

// WebAssembly scans long strings, 64 bytes a step: four to eight times as fast as JavaScript with words of four bytes, including
// the copy into the module's memory. `npm run wasm` compiles text-scan.wat into text-scan-module.ts.

/** Bytes of a body that the module's memory holds at once: few enough for a core's fastest caches. */
const WINDOW_BYTES = 32 * 1024;
/** Where text-scan.wat reads the classes of bytes. */
const CLASSES_ADDRESS = 0xc000;
/** Length of the longest escape, \u0000, minus one. The window may cut an escape that begins so close to its end. */
const MOST_CUT_BYTES = 5;

interface TextScan {
  readonly memory: WebAssembly.Memory;
  /** See text-scan.wat. */
  readonly contentEnd: (at: number, end: number) => number;
}

const { memory, contentEnd: contentEndInWindow } = load();
const window = new Uint8Array(memory.buffer, 0, WINDOW_BYTES);

// The window holds [begin, until) of the scanned bytes. All scanners share it, because a scan is synchronous.
let begin = 0;
let until = 0;

/** Call before other bytes are scanned: the window's content is of no use for them. */
export function forgetWindow(): void {
  until = 0;
}

/**
 * Index of a string's closing quote, or of the first byte that the caller must check: a control character, an escape that is
 * wrong or cut off, or `end`. After `forgetWindow`, `from` may only grow, and `bytes` and `end` must stay the same.
 */
export function contentEnd(bytes: Uint8Array, from: number, end: number): number {
  if (from >= until) fillWindow(bytes, from, end);
  let at = begin + contentEndInWindow(from - begin, until - begin);
  while (until < end && at >= until - MOST_CUT_BYTES) {
    fillWindow(bytes, at, end);
    at = begin + contentEndInWindow(0, until - begin);
  }
  return at;
}

function fillWindow(bytes: Uint8Array, from: number, end: number): void {
  begin = from;
  until = Math.min(end, from + WINDOW_BYTES);
  window.set(bytes.subarray(begin, until));
}

function load(): TextScan {
  const scan = startModule(TEXT_SCAN_MODULE) as unknown as TextScan;
  new Uint8Array(scan.memory.buffer).set(ESCAPE_CLASSES, CLASSES_ADDRESS);
  return scan;
}
