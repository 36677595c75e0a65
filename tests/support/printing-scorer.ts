/** A plugin that prints itself, as much at once as a pipe holds, by each of the ways there are. */
import { z } from "../../core/contract/options.ts";
import { defineScorer } from "../../core/contract/plugin.ts";

const LINE = "p".repeat(64 * 1024);

export default defineScorer({
  type: "printing",
  summary: "Prints much",
  options: z.strictObject({}),
  create: () => ({
    score() {
      console.log("log %s", LINE);
      console.error("error", LINE);
      console.table([LINE]);
      process.stdout.write(`stdout ${LINE}\n`);
      process.stderr.write(Buffer.from(`stderr ${LINE}\n`));
      return null;
    },
  }),
});
