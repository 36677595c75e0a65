// Writes docs/plugins.md.
import { writeFileSync } from "node:fs";
import { builtIns } from "../../../plugins/registry.ts";
import { pluginsPage } from "./plugins-page.ts";

writeFileSync(new URL("../../../docs/plugins.md", import.meta.url), pluginsPage(builtIns));
