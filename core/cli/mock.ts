import { runMock } from "../mock/command.ts";
import { stopSignal } from "./stop-signal.ts";

/** `signalbox mock`: runs one mock replica until SIGINT or SIGTERM. Returns the exit code. */
export async function mock(argv: readonly string[]): Promise<number> {
  const run = await runMock(argv, (text) => console.log(text));
  if ("exitCode" in run) return run.exitCode;
  await stopSignal();
  await run.replica.close();
  return 0;
}
