import { readFileSync } from "node:fs";
import wabt from "wabt";

export interface WatModule {
  /** Path from the root, without its extension; the bytes lie beside it as NAME-module.ts. */
  readonly source: string;
  /** What the file with the bytes exports. */
  readonly constant: string;
}

/** The modules of the tree. */
export const WAT_MODULES: readonly WatModule[] = [
  { source: "core/body/text-scan", constant: "TEXT_SCAN_MODULE" },
  { source: "core/state/prefix-hash", constant: "PREFIX_HASH_MODULE" },
];

export function bytesFile({ source }: WatModule): URL {
  return new URL(`../../${source}-module.ts`, import.meta.url);
}

/** What that file must hold. */
export async function compiledText({ source, constant }: WatModule): Promise<string> {
  const { parseWat } = await wabt();
  const wat = readFileSync(new URL(`../../${source}.wat`, import.meta.url), "utf8");
  const { buffer } = parseWat(`${source}.wat`, wat, { simd: true }).toBinary({});
  const name = source.slice(source.lastIndexOf("/") + 1);
  return `/** ${name}.wat in base64, as \`npm run wasm\` compiles it. */\nexport const ${constant} =\n  "${Buffer.from(buffer).toString("base64")}";\n`;
}
