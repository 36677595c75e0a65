import { setTimeout } from "node:timers/promises";
import { createParser } from "eventsource-parser";
import { CommandError } from "../../../config/command.ts";
import type { EndpointUrl } from "../../../core/contract/endpoint.ts";
import { GetError } from "../../../core/wire/get-error.ts";
import { httpStream } from "../../../core/wire/http-stream.ts";
import { refusalOf, unreachable } from "./ask-admin.ts";

/** How long to wait before the next attempt to connect again. */
const RETRY_MS = 2_000;
/** A router sends a comment every 15 seconds. */
const SILENCE_MS = 45_000;
/** Longer events are no events of a router. */
const MOST_CHARS = 4 * 1024 * 1024;
/** A refusal is a short document. */
const MOST_REFUSAL_BYTES = 64 * 1024;

export interface Followed {
  readonly admin: EndpointUrl;
  readonly headers: Readonly<Record<string, string>>;
  /** With the query. */
  readonly path: string;
  /** Ends it. */
  readonly signal: AbortSignal;
  event(type: string, data: string): void;
  /** Tells people that the connection was lost, or is back. */
  say(text: string): void;
}

/**
 * Hands on the events of a router's stream until `signal` is aborted; connects again when the stream ends. Rejects with a CommandError
 * when the router can't be reached at first, or refuses.
 */
export async function followEvents(followed: Followed): Promise<void> {
  const { admin, signal, say } = followed;
  let wasConnected = false;
  let isLost = false;
  while (!signal.aborted) {
    const end = await readOnce(followed, () => {
      if (isLost) say("Connected again; what ended meanwhile is not shown.");
      wasConnected = true;
      isLost = false;
    });
    if (signal.aborted) return;
    // A router that stops or has too many listeners (exit code 1) may be asked again; what is wrong in the question stays wrong.
    if (end instanceof CommandError && !(wasConnected && end.exitCode === 1)) throw end;
    if (!wasConnected) unreachable(end, admin);
    if (!isLost) say(`${end.message.replace(/\.$/, "")}; trying again every ${RETRY_MS / 1000} s.`);
    isLost = true;
    // Rejects when it is aborted.
    await setTimeout(RETRY_MS, undefined, { signal }).catch(() => {});
  }
}

/** Reads one response to its end and returns why it ended: a CommandError if it was a refusal. */
async function readOnce(
  { admin, headers, path, signal, event }: Followed,
  connected: () => void,
): Promise<GetError | CommandError> {
  const read = eventReader(event);
  let status = 0;
  let refusal = "";
  try {
    await httpStream(admin, path, {
      headers,
      silenceMs: SILENCE_MS,
      signal,
      head(seen, contentType) {
        // What answers something else is no router.
        status = seen === 200 && contentType !== "text/event-stream" ? 0 : seen;
        if (status === 200) connected();
      },
      body(bytes) {
        if (status === 200) read(bytes);
        else if (refusal.length < MOST_REFUSAL_BYTES) refusal += bytes.toString("utf8");
      },
    });
  } catch (thrown) {
    if (thrown instanceof GetError) return thrown;
    throw thrown;
  }
  if (status === 200) return new GetError("reset", "The router ended the stream");
  if (status === 404) return new CommandError(2, NO_STREAM);
  return refusalOf({ status, body: refusal }, admin);
}

const NO_STREAM =
  "This router has no stream of decisions: its config lists no plugin of the type decisions, or it is another version.";

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
