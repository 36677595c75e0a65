import { readJsonBody } from "../../../core/body/json-body.ts";
import type { Definition } from "../../../core/contract/plugin.ts";
import type { ParsedBody } from "../../../core/contract/request.ts";
import { createPlugin } from "../../support/plugins.ts";

export interface Parsed extends ParsedBody {
  /** The text of each prompt span. */
  readonly prompts: readonly string[];
}

/** What the parser reads from a JSON text, by default on its first path. */
export function parseWith<Options>(definition: Definition<"parser", Options>, json: string, path?: string): Parsed {
  const parser = createPlugin(definition);
  const bytes = new TextEncoder().encode(json);
  const parsed = parser.parse(readJsonBody(bytes, parser, 64), path ?? parser.routes[0]!.path, "");
  const prompts = parsed.promptSpans.map(([start, end]) => new TextDecoder().decode(bytes.subarray(start, end)));
  return { ...parsed, prompts };
}
