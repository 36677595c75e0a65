import { RouterError } from "../contract/errors.ts";
import type { Head } from "../wire/head.ts";
import { HEADER } from "../wire/header-names.ts";

/** A client's request id is used only if it is safe in a log, in a header and, because `explain` asks by it, as a part of a path. */
const SAFE_ID = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;

/** The id that the client gave its request; undefined if there is none, or none that is safe. */
export function requestId(head: Head): string | undefined {
  const asked = head.get("x-request-id");
  return asked !== undefined && SAFE_ID.test(asked) ? asked : undefined;
}

/** Throws RouterError (415) unless the headers declare uncompressed JSON. */
export function checkContentType(head: Head): void {
  const isJson =
    head.has(HEADER["content-type"], "application/json") || /^application\/json\s*(;|$)/i.test(head.get("content-type") ?? "");
  if (!isJson) {
    throw new RouterError("unsupported_media_type", "Send the body as JSON with the header Content-Type: application/json.");
  }
  const encoding = head.get("content-encoding")?.toLowerCase() ?? "identity";
  if (encoding !== "identity") {
    throw new RouterError(
      "unsupported_media_type",
      "Send the body without Content-Encoding: compressed requests are not supported.",
    );
  }
}
