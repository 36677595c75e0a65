import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { examplePath } from "./example-files.ts";

// What `signalbox new` copies: each has a test of its own.
for (const kind of readdirSync(examplePath("plugins")))
  await import(pathToFileURL(join(examplePath("plugins"), kind, "plugin.test.ts")).href);
