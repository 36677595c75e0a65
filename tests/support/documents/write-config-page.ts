// Writes docs/config.md.

import { writeFileSync } from "node:fs";
import { builtIns } from "../../../plugins/registry.ts";
import { defaultConfig } from "../default-config.ts";
import { configPage } from "./config-page.ts";

writeFileSync(new URL("../../../docs/config.md", import.meta.url), configPage(await defaultConfig(), builtIns));
