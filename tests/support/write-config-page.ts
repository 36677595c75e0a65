// Writes docs/config.md.
import { writeFileSync } from "node:fs";
import { configPage } from "../../config/show/config-page.ts";
import { defaultConfig } from "./default-config.ts";

writeFileSync(new URL("../../docs/config.md", import.meta.url), configPage(await defaultConfig()));
