import { forgetBody } from "../request/parse.ts";
import type { Run } from "../run.ts";

/** Smaller bodies stay until their request ends: what must be known of a body afterwards costs more than its memory. */
const LEAST_FREED_BYTES = 16 * 1024;

/** No connection needs the request's body any more: gives its memory back, where that is worth it before the request ends. */
export function freeBody(run: Run): void {
  const { request } = run.ticket;
  if (request === undefined || request.body.length < LEAST_FREED_BYTES) return;
  run.pool.control.traffic.freesBody(request);
  leaveBody(run, true);
}

/** Nobody reads the request's body any more. `isFree`: it is certain that no connection still has to write it. */
export function leaveBody({ ticket, buffer, body }: Run, isFree: boolean): void {
  forgetBody(ticket.request);
  body?.forget();
  if (isFree) buffer?.release();
  else buffer?.abandon();
}
