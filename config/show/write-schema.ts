/** Writes the editor schema of the built-in plugins: node --import tsx config/show/write-schema.ts && npx biome format --write config */
import { writeFileSync } from "node:fs";
import { builtIns } from "../../plugins/registry.ts";
import { editorSchema } from "./editor-schema.ts";

writeFileSync(new URL("../signalbox.schema.json", import.meta.url), `${JSON.stringify(editorSchema(builtIns), null, 2)}\n`);
