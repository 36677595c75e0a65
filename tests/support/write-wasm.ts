/** Compiles the WebAssembly modules: npm run wasm */
import { writeFileSync } from "node:fs";
import { bytesFile, compiledText, WAT_MODULES } from "./compile-wat.ts";

for (const module of WAT_MODULES) writeFileSync(bytesFile(module), await compiledText(module));
