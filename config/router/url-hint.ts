import { parseEndpointUrl } from "../../core/contract/endpoint-url.ts";
import { closestName } from "../../core/report/closest-name.ts";
import { quoted } from "../read/problems.ts";

/** A hint with the address and its scheme, where that is missing or mistyped and nothing else is wrong. */
export function urlHint(text: string): string {
  const [, typed, slashes = "", rest = text] = /^([a-z]+):(\/+)(.+)$/i.exec(text) ?? [];
  const scheme = typed === undefined ? "http" : closestName(typed, ["http", "https"]);
  // Text before an "@" may be a password; messages must not repeat it.
  if (scheme === undefined || text.includes("@") || (typed?.toLowerCase() === scheme && slashes === "//")) return "";
  try {
    return ` Did you mean ${quoted(parseEndpointUrl(`${scheme}://${rest}`).href)}?`;
  } catch {
    return "";
  }
}
