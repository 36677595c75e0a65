// Writes docs/plugins.md.
import { writeFileSync } from "node:fs";
import { pluginsPage } from "../../config/show/plugins-page.ts";
import { builtIns } from "../../plugins/registry.ts";

writeFileSync(new URL("../../docs/plugins.md", import.meta.url), pluginsPage(builtIns));
