import type { ApartView } from "./apart.ts";
import type { Refusal } from "./message.ts";
import type { Peers, PeerView } from "./peers.ts";

/** What people see of the routers that agree. */
export interface SharedView {
  readonly store: string;
  readonly isUp: boolean;
  /** Why it is not; "" while it is. */
  readonly fault: string;
  readonly router: string;
  readonly routers: readonly PeerView[];
  /** How long this router's last message took to come back; NaN before the first. */
  readonly delayMs: number;
  /** `dropped` are facts that did not fit into a message. */
  readonly messages: { readonly sent: number; readonly heard: number; readonly lost: number; readonly dropped: number };
  readonly refused: Readonly<Record<Refusal, number>>;
  /** Routers that are heard and do not agree with this one, or some of them. */
  readonly apart: readonly ApartView[];
  readonly hasMoreApart: boolean;
  readonly facts: Peers["facts"];
}
