import { type Input, print } from "../../../config/command.ts";
import { ownFile } from "../../../core/runtime/own-files.ts";

/** `signalbox version`: prints the version of the program and of the runtime. Returns the exit code. */
export function version(input: Input): number {
  const number = programVersion();
  const { bun, deno, node } = process.versions;
  const runtime = bun ? `bun ${bun}` : deno ? `deno ${deno}` : `node ${node}`;
  return print(input, { version: number, runtime }, () => `signalbox ${number} on ${runtime}\n`, 0);
}

export function programVersion(): string {
  return (JSON.parse(ownFile("package.json")) as { version: string }).version;
}
