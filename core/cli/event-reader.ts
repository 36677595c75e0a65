/** Longer events are no events of a router. */
const MOST_CHARS = 4 * 1024 * 1024;

/** Reads server-sent events (HTML standard, 9.2.6) from bytes as they come. Lines end with LF or CRLF. */
export class EventReader {
  readonly #dispatch: (type: string, data: string) => void;
  readonly #decoder = new TextDecoder();
  /** The beginning of a line. */
  #rest = "";
  #type = "";
  #data: string[] = [];
  #dataChars = 0;

  constructor(dispatch: (type: string, data: string) => void) {
    this.#dispatch = dispatch;
  }

  /** Calls `dispatch` for each event that ends in these bytes. Throws an Error when an event is too long. */
  push(bytes: Uint8Array): void {
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line.endsWith("\r") ? line.slice(0, -1) : line);
    if (this.#rest.length + this.#dataChars > MOST_CHARS) throw new Error("An event is longer than any that a router sends");
  }

  #line(line: string): void {
    if (line === "") return this.#end();
    const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === "event") this.#type = value;
    if (field !== "data") return;
    this.#data.push(value);
    this.#dataChars += value.length;
  }

  #end(): void {
    const [type, data] = [this.#type, this.#data];
    this.#type = "";
    this.#data = [];
    this.#dataChars = 0;
    if (data.length > 0) this.#dispatch(type === "" ? "message" : type, data.join("\n"));
  }
}
