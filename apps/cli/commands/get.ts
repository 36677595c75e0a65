import { type Input, print, UsageError } from "../../../config/command.ts";
import { type FeatureText, featureTexts } from "../../../config/feature.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import type { EndpointStatus } from "../../admin/endpoint-schema.ts";
import { apiPath, askAdmin } from "../admin/ask-admin.ts";
import { onlyWord } from "../frame/command.ts";
import { configText, type ShownConfig } from "../show/config-text.ts";
import { endpointLines } from "../show/endpoint-table.ts";
import { rewriteFiguresText, type ShownRewrite } from "./rewrites.ts";

/** `signalbox get`: shows one list of a running router. Returns the exit code. */
export async function get(input: Input, registry: ReadonlyMap<string, Definition>): Promise<number> {
  const what = onlyWord(input, "what to show", "signalbox get rewrites");
  const toText = TEXTS[what];
  if (toText === undefined) throw new UsageError(`There is no "${what}" to get; there are ${Object.keys(TEXTS).join(", ")}.`);
  const document = await askAdmin(input, apiPath([what]));
  return print(input, document, () => `${toText(document, featureTexts(registry))}\n`);
}

/** `signalbox facts`: prints what the router's decisions read now, as JSON. Returns the exit code. */
export async function facts(input: Input): Promise<number> {
  process.stdout.write(`${JSON.stringify(await askAdmin(input, apiPath(["facts"])), undefined, 2)}\n`);
  return 0;
}

const TEXTS: Readonly<Record<string, (document: unknown, texts: readonly FeatureText[]) => string>> = {
  rewrites(document, texts) {
    const { rewrites, deleted } = document as { rewrites: ShownRewrite[]; deleted: { name: string; change: { by: string } }[] };
    const lines = [
      ...rewrites.map((rewrite) => rewriteFiguresText(rewrite, texts)),
      ...deleted.map(({ name, change }) => `${name} (deleted by ${change.by})`),
    ];
    return lines.join("\n") || "There are no rewrites.";
  },
  endpoints: (document) => endpointLines((document as { endpoints: EndpointStatus[] }).endpoints).join("\n"),
  config: (document) => configText(document as ShownConfig, true),
};
