import { isToken } from "../../core/wire/octets.ts";
import { WireError } from "../../core/wire/wire-error.ts";
import type { HeaderMap, HeaderValue } from "./ext-proc.ts";

// A head as the wire server and the connections to replicas would have it, so that the same parser accepts and refuses the same heads.

/** Of a request; without the pseudo headers that HTTP/1.1 has no line for. */
export function requestHeadText({ headers = [] }: HeaderMap): string {
  let method = "";
  let target = "";
  let lines = "";
  for (const header of headers) {
    const name = header.key ?? "";
    const value = textOf(header);
    if (name === ":method") method = value;
    else if (name === ":path") target = value;
    else if (name === ":authority") lines = `host: ${value}\r\n${lines}`;
    else if (!name.startsWith(":") && !isFraming(name)) lines += lineOf(name, value);
  }
  return `${method} ${target} HTTP/1.1\r\n${lines}\r\n`;
}

/** Of a response. */
export function responseHeadText({ headers = [] }: HeaderMap): string {
  let status = "";
  let lines = "";
  for (const header of headers) {
    const name = header.key ?? "";
    if (name === ":status") status = textOf(header);
    else if (!isFraming(name)) lines += lineOf(name, textOf(header));
  }
  return `HTTP/1.1 ${status} \r\n${lines}\r\n`;
}

/** Gateways frame bodies themselves, whatever stands there. */
function isFraming(name: string): boolean {
  return name === "transfer-encoding" || name === "connection";
}

function lineOf(name: string, value: string): string {
  if (!isToken(name)) throw new WireError("bad_head", "A header name has a character that may not be there.");
  return `${name}: ${value}\r\n`;
}

/** One character for each byte. Throws for what would end a line: the rest of it would be taken for another header. */
function textOf({ value = "", raw_value }: HeaderValue): string {
  const bytes = raw_value === undefined ? Buffer.from(value) : raw_value;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  if (text.includes("\r") || text.includes("\n")) throw new WireError("bad_head", "A header has a line break in it.");
  return text;
}
