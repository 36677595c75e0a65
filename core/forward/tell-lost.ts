import type { LostSlot } from "../contract/slots/lost.ts";
import type { Booking } from "../pool/booking.ts";
import type { Run } from "../run.ts";
import { tellFeatures } from "../tell-features.ts";
import type { UpstreamFailure } from "../wire/response-reader.ts";
import type { TryReader } from "./try-reader.ts";

/** How connections end whose replica dies. */
const ENDS: ReadonlySet<UpstreamFailure> = new Set(["stale", "reset", "gone"] as const);

/**
 * A replica that had got a request, and ended before its first token, may have died of it: a probe follows at once, and features are
 * told.
 */
export function tellLost(run: Run, { endpoint, beganAtMs }: Booking, { awaitsToken }: TryReader, failure: UpstreamFailure): void {
  if (!ENDS.has(failure) || !awaitsToken) return;
  run.pool.control.doubted(endpoint);
  tellFeatures(run.config.slots.lost, run.parts.services.log, (plugin) => plugin.lost(run, endpoint, beganAtMs));
}

/** The request's body may be freed, perhaps before its first token. */
export function tellFreed(run: Run, { awaitsToken }: TryReader): void {
  if (awaitsToken) tellFeatures<LostSlot>(run.config.slots.lost, run.parts.services.log, (plugin) => plugin.freesBody?.(run));
}
