import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Figures } from "../changed-figures.ts";
import { closureOf, linesOf } from "../source-graph.ts";
import { ROOT } from "../suite/runtimes.ts";
import { entriesOf, type Names, publicNames } from "./public-names.ts";

/** What others see of the package. */
export interface Published {
  /** What may be imported. */
  readonly entries: readonly string[];
  /** By module. */
  readonly names: Readonly<Record<string, Names>>;
  readonly sizes: Figures;
}

/** What `npm pack --json` says of the package. */
interface Packed {
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly object[];
}

export const PUBLISHED_FILE = "tests/package/published.json";

export function readPublished(): Published {
  return JSON.parse(readFileSync(join(ROOT, PUBLISHED_FILE), "utf8")) as Published;
}

export function writePublished(published: Published): void {
  writeFileSync(join(ROOT, PUBLISHED_FILE), `${JSON.stringify(published, null, 2)}\n`);
}

/** What it is now, by the folder that `npm run build` made. */
export function publishedOf(built: string, { size, unpackedSize, files }: Packed): Published {
  const core = closureOf("core/create-core.ts", false);
  const { components } = JSON.parse(readFileSync(join(built, "sbom.cdx.json"), "utf8")) as { components: readonly object[] };
  return {
    entries: entriesOf(built),
    names: publicNames(built),
    sizes: {
      "bytes packed": size,
      "bytes unpacked": unpackedSize,
      files: files.length,
      "packages that it needs": components.length,
      "files that signalbox/core loads": core.size,
      "lines that signalbox/core loads": linesOf(core),
    },
  };
}
