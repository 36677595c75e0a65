import { readFileSync } from "node:fs";
import { type Input, noWords } from "../frame/command.ts";

/** `signalbox version`: prints the version of the program and of the runtime. Returns the exit code. */
export function version(input: Input): number {
  noWords(input, "version");
  const { version: number } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  const { bun, deno, node } = process.versions;
  const runtime = bun ? `bun ${bun}` : deno ? `deno ${deno}` : `node ${node}`;
  process.stdout.write(
    input.isJson ? `${JSON.stringify({ version: number, runtime })}\n` : `signalbox ${number} on ${runtime}\n`,
  );
  return 0;
}
