import type { RequestReceiver } from "../contract/slots/decode.ts";
import type { Head } from "../wire/head.ts";
import type { ResponseWriter } from "./response-writer.ts";

/** Starts one request; called when its head is complete. `bodyLength` is in bytes: -1 for a chunked body, 0 for none. */
export type RequestStarter = (head: Head, bodyLength: number, response: ResponseWriter, peer: string) => RequestReceiver;
