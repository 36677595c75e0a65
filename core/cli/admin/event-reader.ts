import { createParser } from "eventsource-parser";

/** Longer events are no events of a router. */
const MOST_CHARS = 4 * 1024 * 1024;

/**
 * Returns what to call with the bytes of a stream of server-sent events as they come. It calls `dispatch` for each event that ends
 * in them, and throws an Error when an event is too long.
 */
export function eventReader(dispatch: (type: string, data: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  const parser = createParser({
    maxBufferSize: MOST_CHARS,
    onEvent: ({ event = "message", data }) => dispatch(event, data),
    // The standard wants everything else that is wrong ignored.
    onError({ type }) {
      if (type === "max-buffer-size-exceeded") throw new Error("An event is longer than any that a router sends");
    },
  });
  return (bytes) => parser.feed(decoder.decode(bytes, { stream: true }));
}
