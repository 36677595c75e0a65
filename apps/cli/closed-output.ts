import { exit } from "../../core/runtime/stray-exit.ts";

/** As shells report a program that ended because nobody reads its output any more: 128 and the number of SIGPIPE. */
const READER_LEFT = 141;

/**
 * Ends the program quietly when whoever reads its output has left, as `head` does once it has its lines, and with one sentence when
 * the output fails in another way. Not for a router, which goes on without its outputs.
 */
export function endWithReader(): void {
  process.stdout.on("error", (thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "EPIPE") exit(READER_LEFT);
    process.stderr.write(`signalbox: The standard output can't be written to: ${thrown.message}\n`, () => exit(1));
  });
  process.stderr.on("error", ({ code }: NodeJS.ErrnoException) => exit(code === "EPIPE" ? READER_LEFT : 1));
}
