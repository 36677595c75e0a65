import type { SharedView } from "./shared-log.ts";

export type SharedStatus = Readonly<NonNullable<ReturnType<typeof sharedStatus>>>;

/** The other routers, and what carries what they say, as JSON; null where this one is alone. */
export function sharedStatus(view: SharedView | undefined) {
  if (view === undefined) return null;
  const { delayMs, refused, ...rest } = view;
  return { ...rest, delayMs: Number.isNaN(delayMs) ? null : Math.round(delayMs), refused: { ...refused } };
}

/** That the router is alone, against its config. */
export function sharedWarnings(view: SharedView | undefined): readonly string[] {
  if (view === undefined || view.isUp) return [];
  const why = view.fault === "" ? "it has not answered yet" : view.fault;
  return [`The store by which routers agree can't be used (${view.store}: ${why}): each router goes on with what it knows.`];
}

/** Lines below the status. */
export function sharedLines({ shared = null }: { readonly shared?: SharedStatus | null }): readonly string[] {
  if (shared === null) return [];
  const { store, isUp, fault, routers, delayMs } = shared;
  if (!isUp) return [`shared: alone, ${store} can't be used${fault === "" ? "" : ` (${fault})`}`];
  const inFlight = routers.reduce((sum, each) => sum + each.inFlight, 0);
  const others = routers.length === 1 ? "1 other router" : `${routers.length} other routers`;
  const delay = delayMs === null ? "" : `, heard after ${delayMs} ms`;
  return [`shared: ${others} by ${store}, ${inFlight} of their requests in flight${delay}`];
}
