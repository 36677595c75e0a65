/**
 * Writes the editors' schema with the built-in plugins, and the CustomResourceDefinition of Router:
 * node --import tsx tests/support/documents/write-schema.ts && npx biome format --write config
 */
import { writeFileSync } from "node:fs";
import { editorSchema } from "../../../config/show/editor-schema.ts";
import { withComments } from "../../../config/show/format.ts";
import { builtIns } from "../../../plugins/registry.ts";
import { routerCrd } from "./crd.ts";

const write = (path: string, text: string) => writeFileSync(new URL(`../../../${path}`, import.meta.url), text);

write("config/signalbox.schema.json", `${JSON.stringify(editorSchema(builtIns), null, 2)}\n`);
write("examples/deploy/crd/routers.yaml", `# Written by npm run schema.\n${withComments(routerCrd(builtIns), () => undefined)}`);
