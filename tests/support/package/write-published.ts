// `npm run published`: builds the package and writes what others see of it into the file that a test compares.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../suite/runtimes.ts";
import { PUBLISHED_FILE, publishedOf, writePublished } from "./published.ts";

const place = mkdtempSync(join(tmpdir(), "signalbox-published-"));
try {
  const built = join(place, "package");
  execFileSync(process.execPath, ["--import", "tsx", "tests/support/package/build.ts", built], { cwd: ROOT, stdio: "inherit" });
  const words = ["pack", "--json", "--dry-run", "--ignore-scripts", built];
  const [packed] = JSON.parse(execFileSync("npm", words, { cwd: place, encoding: "utf8" }));
  writePublished(publishedOf(built, packed));
} finally {
  rmSync(place, { recursive: true });
}
console.log(`${PUBLISHED_FILE} is written; git diff shows what is new.`);
