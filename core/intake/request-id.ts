import type { Head } from "../wire/head.ts";

/** A client's request id is used only if it is safe in a log, in a header and, because `explain` asks by it, as a part of a path. */
const SAFE_ID = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/;

/** The id that the client gave its request; undefined if there is none, or none that is safe. */
export function requestId(head: Head): string | undefined {
  const asked = head.get("x-request-id");
  return asked !== undefined && SAFE_ID.test(asked) ? asked : undefined;
}
