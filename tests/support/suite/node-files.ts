/** Loads the test files of the arguments into one process of Node, which runs the tests that they register. */
import { pathToFileURL } from "node:url";

async function load(files: readonly string[]): Promise<void> {
  for (const file of files) await import(pathToFileURL(file).href);
}

void load(process.argv.slice(2));
