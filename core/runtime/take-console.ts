import { Console } from "node:console";
import { Writable } from "node:stream";

/** Writes text to one of the program's outputs, and never waits. */
type Print = (text: string) => void;

/**
 * Sends what anything in this process prints through `print` (what is meant for the standard output) and `printError` (the
 * standard error): plugins, and the packages that they use. By themselves, `console` and `process.stdout` either block the event
 * loop while the reader of a pipe stalls, or keep in memory whatever it does not read. Calls of Deno's own `Deno.stdout`, and of
 * `fs` with an output's number, are not covered.
 */
export function takeConsole(print: Print, printError: Print): void {
  const stdout = streamTo(print);
  const stderr = streamTo(printError);
  // Not assigned: a getter without a setter holds the real stream, which is made when it is first read.
  Object.defineProperty(process, "stdout", { value: stdout, configurable: true });
  Object.defineProperty(process, "stderr", { value: stderr, configurable: true });
  const own = new Console({ stdout, stderr, colorMode: false });
  // The object stays the same, because modules may have kept it or one of its names.
  const methods = console as unknown as Record<string, unknown>;
  for (const name of Object.keys(methods)) {
    const method = own[name as keyof Console] as unknown;
    if (typeof method === "function") methods[name] = method.bind(own);
  }
}

function streamTo(print: Print): Writable {
  const decoder = new TextDecoder();
  return new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, written) {
      print(typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true }));
      written();
    },
  });
}
