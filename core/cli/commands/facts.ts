import { askAdmin } from "../admin/ask-admin.ts";
import { type Input, noWords } from "../frame/command.ts";

/** `signalbox facts`: prints what the router's decisions read now, as JSON. Returns the exit code. */
export async function facts(input: Input): Promise<number> {
  noWords(input, "facts");
  process.stdout.write(`${JSON.stringify(await askAdmin(input.admin, "/api/v1/facts"), undefined, 2)}\n`);
  return 0;
}
