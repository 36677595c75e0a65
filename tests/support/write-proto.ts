/** Makes the code that reads and writes the messages of apps/epp/ext-proc.proto: npm run proto */
import { writeFileSync } from "node:fs";
import { PROTO_MODULE, protoModuleText } from "./proto-text.ts";

writeFileSync(PROTO_MODULE, protoModuleText());
