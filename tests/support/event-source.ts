/** One event as a browser's EventSource would dispatch it. */
export interface SourceEvent {
  readonly type: string;
  readonly data: string;
}

/** Reads a stream as the HTML standard says (9.2.6): an event that is not ended is not dispatched. */
export function readEventSource(bytes: Uint8Array): SourceEvent[] {
  const events: SourceEvent[] = [];
  const lines = new TextDecoder().decode(bytes).split(/\r\n|\r|\n/);
  // What follows the last line's end is no line.
  lines.pop();
  let type = "";
  let data: string[] = [];
  for (const line of lines) {
    if (line === "") {
      if (data.length > 0) events.push({ type: type === "" ? "message" : type, data: data.join("\n") });
      type = "";
      data = [];
      continue;
    }
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") type = value;
    else if (field === "data") data.push(value);
  }
  return events;
}
