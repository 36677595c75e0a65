// Writes the pictures and the table of lines of ARCHITECTURE.md, which are made of the source.
import { readFileSync, writeFileSync } from "node:fs";
import { withClosure, withPictures } from "./architecture-page.ts";

const FILE = new URL("../../../ARCHITECTURE.md", import.meta.url);
writeFileSync(FILE, withClosure(withPictures(readFileSync(FILE, "utf8"))));
