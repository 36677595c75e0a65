import { isatty } from "node:tty";

/** Calls `pressed` when one of these keys is pressed in the terminal; does nothing where the standard input is none. */
export function onKeys(keys: readonly string[], pressed: () => void): { close(): void } {
  const { stdin } = process;
  if (!isatty(0)) return { close() {} };
  const look = (chunk: Uint8Array) => {
    if (keys.some((key) => chunk.includes(key.charCodeAt(0)))) pressed();
  };
  const release = () => void stdin.setRawMode(false);
  stdin.setRawMode(true);
  // An error that ends the process leaves the terminal as it was, too.
  process.on("exit", release);
  stdin.on("data", look);
  return {
    close() {
      process.off("exit", release);
      stdin.off("data", look);
      release();
      stdin.pause();
    },
  };
}
