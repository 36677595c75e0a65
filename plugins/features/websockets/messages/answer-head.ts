import type { Head } from "../../../../core/wire/head.ts";
import { HeadParser } from "../../../../core/wire/head-parser.ts";

/** Of an answer that is an event stream. */
export const STREAM_HEAD = headOf("200 OK", "text/event-stream");

/**
 * The head of the response that an error message of a replica is, so that what follows from it is the same as over HTTP; undefined where
 * it does not say a status.
 */
export function refusalHead(message: Buffer): Head | undefined {
  const status = statusIn(message.toString());
  return status === undefined ? undefined : headOf(`${status} Refused`, "application/json");
}

function headOf(status: string, contentType: string): Head {
  const parser = new HeadParser("response", { headBytes: 1024, headerCount: 4 });
  parser.push(Buffer.from(`HTTP/1.1 ${status}\r\ncontent-type: ${contentType}\r\n\r\n`), 0);
  return parser.head;
}

function statusIn(text: string): number | undefined {
  try {
    const { status } = JSON.parse(text) as { readonly status?: unknown };
    return Number.isInteger(status) && Number(status) >= 400 && Number(status) < 600 ? Number(status) : undefined;
  } catch {
    return undefined;
  }
}
