import { startModule } from "../runtime/wasm.ts";
import { ESCAPE_CLASSES } from "./string-run.ts";
import { TEXT_SCAN_MODULE } from "./text-scan-module.ts";

// Long strings are scanned in WebAssembly, 64 bytes a step: four to eight times as fast as JavaScript with words of four bytes,
// the copy into the module's memory included. `npm run wasm` compiles text-scan.wat into text-scan-module.ts.

/** Bytes of a body that are in the module's memory at once: few enough to stay in a core's nearest caches. */
const WINDOW_BYTES = 32 * 1024;
/** Where text-scan.wat looks up classes. */
const CLASSES_ADDRESS = 0xc000;
/** The longest escape, \u0000, less one: what begins so close to the window's end may only look cut off. */
const MOST_CUT_BYTES = 5;

interface TextScan {
  readonly memory: WebAssembly.Memory;
  /** See text-scan.wat. */
  readonly contentEnd: (at: number, end: number) => number;
}

const { memory, contentEnd: contentEndInWindow } = load();
const window = new Uint8Array(memory.buffer, 0, WINDOW_BYTES);

// The window holds [begin, until) of the bytes that are scanned. One for all scanners: a scan never waits half-way.
let begin = 0;
let until = 0;

/** What the window holds is of other bytes than those to be scanned next. */
export function forgetWindow(): void {
  until = 0;
}

/**
 * Index of a string's closing quote, or of the first thing in it that needs a closer look: a control character, an escape that is wrong
 * or cut off, or `end`. After `forgetWindow`, calls may only go forward in the same bytes up to the same `end`.
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
