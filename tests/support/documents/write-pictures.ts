// `npm run pictures`: draws the pictures of docs/ that are made by the router's own code.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { PICTURES } from "./pictures.ts";

for (const [name, make] of PICTURES) {
  const file = new URL(`../../../docs/${name}`, import.meta.url);
  writeFileSync(file, await make(existsSync(file) ? readFileSync(file, "utf8") : ""));
}
