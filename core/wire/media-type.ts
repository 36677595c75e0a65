import type { Head } from "./head.ts";
import { HEADER } from "./header-names.ts";

/** Whether the response comes as server-sent events that can be read: in those of a compressed body no event's end can be seen. */
export function isEventStream(head: Head): boolean {
  return saysEventStream(head) && !isCoded(head);
}

/** Whether it is server-sent events, compressed or not. */
export function saysEventStream(head: Head): boolean {
  return head.begins(HEADER["content-type"], "text/event-stream");
}

/** Whether the body can be read as text: it is not compressed, and of none of the `other` media types. */
export function isText(head: Head, other: readonly string[]): boolean {
  if (isCoded(head)) return false;
  for (const type of other) if (head.begins(HEADER["content-type"], type)) return false;
  return true;
}

/** Whether it is compressed. */
export function isCoded(head: Head): boolean {
  const coding = head.get("content-encoding");
  return coding !== undefined && coding.toLowerCase() !== "identity";
}
