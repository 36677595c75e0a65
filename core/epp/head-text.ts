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
    else if (!name.startsWith(":") && !isFraming(name)) lines += `${name}: ${value}\r\n`;
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
    else if (!isFraming(name)) lines += `${name}: ${textOf(header)}\r\n`;
  }
  return `HTTP/1.1 ${status} \r\n${lines}\r\n`;
}

/** Gateways frame bodies themselves, whatever stands there. */
function isFraming(name: string): boolean {
  return name === "transfer-encoding" || name === "connection";
}

function textOf({ value = "", raw_value }: HeaderValue): string {
  return raw_value === undefined
    ? value
    : Buffer.from(raw_value.buffer, raw_value.byteOffset, raw_value.length).toString("latin1");
}
