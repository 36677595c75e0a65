import { RouterError } from "../contract/errors.ts";
import type { Head } from "./head.ts";
import { HEADER } from "./header-names.ts";

/** Throws RouterError (415) unless the headers declare JSON. */
export function checkContentType(head: Head): void {
  const isJson =
    head.has(HEADER["content-type"], "application/json") || /^application\/json\s*(;|$)/i.test(head.get("content-type") ?? "");
  if (!isJson) {
    throw new RouterError("unsupported_media_type", "Send the body as JSON with the header Content-Type: application/json.");
  }
}

export function codedBody(): RouterError {
  return new RouterError("unsupported_media_type", "Send the body without Content-Encoding.");
}
