import { runMock } from "../../mock/command.ts";
import { stopSignal } from "../start/signals.ts";

/** `signalbox mock`: runs one mock replica until SIGINT or SIGTERM. Returns the exit code. */
export async function mock(argv: readonly string[]): Promise<number> {
  // Before its first line: whoever reads it may stop the replica at once.
  const stopped = stopSignal();
  const run = await runMock(argv, (text) => console.log(text));
  if ("exitCode" in run) return run.exitCode;
  await stopped;
  await run.replica.close();
  return 0;
}
