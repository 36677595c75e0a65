import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { sharedPath } from "../support/shared.ts";

/** The longest text of each conversation in the public ShareGPT trace; undefined where the trace is not beside the checkout. */
export function shareGptTexts(): readonly string[] | undefined {
  const file = sharedPath("traces/sharegpt_text_multiround.json.gz");
  if (file === undefined) return;
  const rows = JSON.parse(gunzipSync(readFileSync(file)).toString()) as readonly { readonly input: string }[];
  const longest = new Map<string, string>();
  for (const { input } of rows) {
    const start = input.slice(0, 100);
    if (input.length > (longest.get(start)?.length ?? 0)) longest.set(start, input);
  }
  return [...longest.values()];
}
