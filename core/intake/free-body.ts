import { forgetBody } from "../request/parse.ts";
import type { Run } from "../run.ts";

/** Smaller bodies stay until their request ends: what must be known of a body afterwards costs more than its memory. */
const LEAST_FREED_BYTES = 16 * 1024;

/** No connection needs the request's body any more. Returns whether its memory is worth giving back now. */
export function freesBody({ ticket, pool }: Run): boolean {
  const { request } = ticket;
  if (request === undefined || request.body.length < LEAST_FREED_BYTES) return false;
  pool.control.traffic.freesBody(request);
  forgetBody(request);
  return true;
}
