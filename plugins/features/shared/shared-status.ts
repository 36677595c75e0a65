import type { ApartView } from "./apart.ts";
import type { SharedView } from "./shared-view.ts";

export type SharedStatus = Readonly<NonNullable<ReturnType<typeof sharedStatus>>>;

/** The other routers, and what carries what they say, as JSON; null where this one is alone. */
export function sharedStatus(view: SharedView | undefined) {
  if (view === undefined) return null;
  const { delayMs, refused, ...rest } = view;
  return { ...rest, delayMs: Number.isNaN(delayMs) ? null : Math.round(delayMs), refused: { ...refused } };
}

/** That the router is alone, against its config, and who is heard that does not agree with it. */
export function sharedWarnings(view: SharedView | undefined): readonly string[] {
  if (view === undefined) return [];
  const { store, isUp, fault, apart, hasMoreApart } = view;
  const more = hasMoreApart
    ? ["Further routers are heard that do not agree with this one: see signalbox_shared_messages_refused_total."]
    : [];
  const others = [...apart.map(apartText), ...more];
  if (isUp) return others;
  const why = fault === "" ? "it has not answered yet" : fault;
  return [
    `The store by which routers agree can't be used (${store}: ${why}): each router goes on with what it knows.`,
    ...others,
  ];
}

function apartText({ router, why }: ApartView): string {
  const who =
    router === ""
      ? "Somebody writes into the store of the routers who is none of them"
      : `The router ${router} does not agree with this one`;
  return `${who}: ${why}.`;
}

/** Lines below the status. */
export function sharedLines({ shared = null }: { readonly shared?: SharedStatus | null }): readonly string[] {
  if (shared === null) return [];
  const { store, isUp, fault, routers, delayMs, apart } = shared;
  if (!isUp) return [`shared: alone, ${store} can't be used${fault === "" ? "" : ` (${fault})`}`];
  const inFlight = routers.reduce((sum, each) => sum + each.inFlight, 0);
  const others = routers.length === 1 ? "1 other router" : `${routers.length} other routers`;
  const delay = delayMs === null ? "" : `, heard after ${delayMs} ms`;
  const away = apart.length === 0 ? "" : `; ${apart.length} that ${apart.length === 1 ? "does" : "do"} not agree`;
  return [`shared: ${others} by ${store}, ${inFlight} of their requests in flight${delay}${away}`];
}
