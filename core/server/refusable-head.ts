import type { Head } from "../wire/head.ts";
import { HeadParser } from "../wire/head-parser.ts";

/**
 * What a receiver is started with if it will be told to refuse: the request line, the client's request id, origin and key, and a
 * content type that all parsers take. With the whole head, the receiver might first find a fault of its own, and respond with another
 * error; without the key it would say that there is none.
 */
export function refusableHead(head: Head): Head {
  const kept = KEPT.map((name) => [name, head.get(name)] as const);
  const keptLines = kept.map(([name, value]) => (value === undefined ? "" : `${name}: ${value}\r\n`));
  const lines = `content-type: application/json\r\n${keptLines.join("")}`;
  const bytes = Buffer.from(`${head.method} ${head.target} HTTP/1.1\r\n${lines}\r\n`, "latin1");
  const parser = new HeadParser("request", { headBytes: bytes.length, headerCount: 1 + KEPT.length });
  parser.push(bytes, 0);
  return parser.head;
}

const KEPT = ["x-request-id", "origin", "authorization", "x-api-key"];
