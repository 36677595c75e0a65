/**
 * Writes the editors' schema with the built-in plugins, and the CustomResourceDefinition of Router:
 * node --import tsx config/show/write-schema.ts && npx biome format --write config
 */
import { writeFileSync } from "node:fs";
import { builtIns } from "../../plugins/registry.ts";
import { routerCrd } from "./crd.ts";
import { editorSchema } from "./editor-schema.ts";
import { withComments } from "./format.ts";

const write = (path: string, text: string) => writeFileSync(new URL(`../../${path}`, import.meta.url), text);

write("config/signalbox.schema.json", `${JSON.stringify(editorSchema(builtIns), null, 2)}\n`);
write("examples/deploy/crd/routers.yaml", `# Written by npm run schema.\n${withComments(routerCrd(), () => undefined)}`);
