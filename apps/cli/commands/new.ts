import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CommandError, type Input, UsageError } from "../../../config/command.ts";
import { ownFile, ownFolder } from "../../../core/runtime/own-files.ts";
import { ownDependency } from "../new/dependency.ts";
import { manifestText, readmeText, TSCONFIG } from "../new/plugin-folder.ts";
import { programVersion } from "./version.ts";

/** A plugin of each kind, in a folder of the kind's name; further ones have more in their names. */
const TEMPLATES = "examples/plugins";

/** `signalbox new KIND NAME`: makes a folder with a plugin that works, its test and a config. Returns the exit code. */
export function newPlugin({ words }: Input): number {
  const [kind = "", name = "", ...rest] = words;
  const kinds = ownFolder(TEMPLATES).filter((folder) => !folder.includes("-"));
  if (!kinds.includes(kind) || rest.length > 0)
    throw new UsageError(`Name a kind and the plugin: signalbox new scorer my-scorer. The kinds are ${kinds.join(", ")}.`);
  if (!/^[a-z][a-z0-9-]*$/.test(name))
    throw new UsageError("Name the plugin in lower case, with hyphens: signalbox new scorer my-scorer.");
  if (existsSync(name)) throw new CommandError(1, `There is a "${name}" in this folder already: take another name.\n`);
  mkdirSync(name);
  const folder = `${TEMPLATES}/${kind}`;
  for (const file of ownFolder(folder)) {
    const text = ownFile(`${folder}/${file}`).replaceAll(`my-${kind}`, name);
    writeFileSync(join(name, file), text.replace("../../../config/", "./node_modules/signalbox/config/"));
  }
  writeFileSync(join(name, "tsconfig.json"), TSCONFIG);
  const version = programVersion();
  const { spec, from } = ownDependency(version);
  const origin =
    from === undefined
      ? ""
      : `package.json takes signalbox from ${from} (${spec}). Where a registry has it, write "^${version}" there.\n\n`;
  writeFileSync(join(name, "package.json"), manifestText(name, version, spec));
  writeFileSync(join(name, "README.md"), readmeText(kind, name, origin));
  process.stdout.write(
    `${name}/ has a ${kind} that works: see README.md there. Next:\n\n    cd ${name} && npm install && npm test\n\n${origin}`,
  );
  return 0;
}
