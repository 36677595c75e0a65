/** `signalbox start` without its access log, which the proxies it is compared with are spared too. */
import { start } from "../../core/cli/start.ts";
import { z } from "../../core/options.ts";
import { defineObserver } from "../../core/plugin.ts";
import { builtIns } from "../../plugins/registry.ts";

const silent = defineObserver({
  type: "access-log",
  summary: "Prints nothing.",
  options: z.strictObject({}),
  create: () => ({ finished() {} }),
});

process.exitCode = await start(process.argv.slice(2), new Map([...builtIns, [silent.type, silent]]));
