import { blocksOf } from "../support/document-blocks.ts";
import { KEY, MODEL } from "./stack.ts";

/** The settings in docs/clients.md that begin with these words, for the router at `url`. */
export function documentedSettings(beginning: string, url: string): string {
  const block = blocksOf("docs/clients.md").find(({ text }) => text.startsWith(beginning));
  if (block === undefined) throw new Error(`docs/clients.md has no settings that begin with ${beginning}`);
  return block.text.replaceAll("http://127.0.0.1:8080", url).replaceAll("food-review", MODEL).replaceAll("sb-KEY", KEY);
}
