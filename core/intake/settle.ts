import type { ActiveConfig } from "../active-config.ts";
import type { RouterError } from "../contract/errors.ts";
import type { Log } from "../contract/log.ts";
import { thrownText } from "../contract/thrown-text.ts";
import { isProbePath } from "../own-routes.ts";
import type { RouterParts } from "../router-parts.ts";
import type { Run } from "../run.ts";
import { tellFeatures } from "../tell-features.ts";
import type { Ticket } from "../ticket.ts";

/**
 * Settles a request that has ended: tells everybody who learns from whole requests, in this order. Who learns from a single try (load,
 * prefixes, speeds, token counts, ejection) has been told by its booking before.
 */
export function settle({ ticket, config, pool, parts }: Run, error: RouterError | undefined): void {
  const { services, configs } = parts;
  const nowMs = services.clock.now();
  ticket.times.endedAtMs = nowMs;
  ticket.wallMs = services.clock.wall();
  if (error !== undefined) ticket.error = { code: error.code, message: error.message };
  reportFaults(ticket, error, parts);
  pool.figures.ended(ticket, nowMs);
  if (!isProbe(ticket)) {
    tellFeatures(config.slots.settled, services.log, (plugin) => plugin.settled(ticket));
    if (config.slots.explain.length > 0) ticket.notes = notesOf(config.slots.explain, ticket, services.log);
    tellObservers(config.observers, ticket, parts);
  }
  configs.giveBack(config);
}

/** A question how the router is, from a machine, every few seconds. */
function isProbe({ request, error, principal, path }: Ticket): boolean {
  return request === undefined && error === undefined && principal === undefined && isProbePath(path);
}

function reportFaults({ id, decision }: Ticket, error: RouterError | undefined, { services, plugins }: RouterParts): void {
  if (decision !== undefined) for (const { plugin, message } of decision.faults) plugins.faults.report(plugin, message);
  if (error?.fault !== undefined) plugins.faults.report(error.fault.plugin, error.fault.text);
  else if (error?.cause !== undefined)
    services.log.error("A request failed inside the router", { id, cause: thrownText(error.cause) });
}

/** What features say of the request; undefined for nothing. */
function notesOf(features: ActiveConfig["slots"]["explain"], ticket: Ticket, log: Log): Ticket["notes"] {
  const notes: string[] = [];
  tellFeatures(features, log, (plugin) => void notes.push(...plugin.explain(ticket)));
  return notes.length === 0 ? undefined : notes;
}

/** One that throws, or whose `finished` is async and fails, is logged. */
function tellObservers(observers: ActiveConfig["observers"], ticket: Ticket, { services }: RouterParts): void {
  for (const { name, plugin } of observers) {
    try {
      const returned: unknown = plugin.finished(ticket);
      if (returned instanceof Promise) returned.catch((thrown: unknown) => logFailure(name, thrown, services));
    } catch (thrown) {
      logFailure(name, thrown, services);
    }
  }
}

function logFailure(plugin: string, thrown: unknown, { log }: RouterParts["services"]): void {
  log.warn("An observer failed", { plugin, fault: thrownText(thrown) });
}
