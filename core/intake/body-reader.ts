import type { RouteParser } from "../active-config.ts";
import { BodyScanner } from "../body/scan.ts";
import type { BodyReader } from "../contract/parser.ts";
import { refusalBy } from "../plugin-watch/plugin-faults.ts";
import { checkContentType } from "../wire/content-type.ts";
import type { Head } from "../wire/head.ts";

/** What reads the body for the parser; undefined: nobody does. Throws RouterError for a media type that the path does not take. */
export function bodyReader(parser: RouteParser, head: Head, path: string, maxDepth: number): BodyReader | undefined {
  const { plugin, keys } = parser;
  let own: BodyReader | undefined;
  try {
    own = plugin.reader?.(path, head);
  } catch (thrown) {
    throw refusalBy("parser", parser, thrown);
  }
  if (own !== undefined || keys.length === 0) return own;
  checkContentType(head);
  return new BodyScanner(keys, maxDepth, plugin.partKeys);
}
