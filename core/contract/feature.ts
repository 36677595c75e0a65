import type { Endpoint } from "./endpoint.ts";
import type { AdmitSlot } from "./slots/admit.ts";
import type { AnswerSlot } from "./slots/answer.ts";
import type { CompareSlot } from "./slots/compare.ts";
import type { CopySlot } from "./slots/copy.ts";
import type { DecodeSlot } from "./slots/decode.ts";
import type { EnterSlot } from "./slots/enter.ts";
import type { InflateSlot } from "./slots/inflate.ts";
import type { LinesSlot } from "./slots/lines.ts";
import type { LostSlot } from "./slots/lost.ts";
import type { PlanSlot } from "./slots/plan.ts";
import type { PoolSlot } from "./slots/pool.ts";
import type { SendSlot } from "./slots/send.ts";
import type { SettledSlot } from "./slots/settled.ts";
import type { SharedSlot } from "./slots/shared.ts";
import type { ShownSlots } from "./slots/shown.ts";
import type { TapSlot } from "./slots/tap.ts";
import type { UpgradeSlot } from "./slots/upgrade.ts";

/**
 * Something that a router does beside putting requests on replicas. It fills the slots that are its business, and leaves the others out:
 * a slot that nobody fills costs nothing. One instance is made for each config; what it must remember beyond that is in `host.keep`.
 *
 * @example
 * create: (_options, host) => {
 *   const counts = host.keep(1, () => ({ requests: 0 }));
 *   return { settled: () => void counts.requests++, status: () => ({ counted: counts.requests }) };
 * }
 */
export interface Feature<Config extends RunningConfigView = RunningConfigView>
  extends UpgradeSlot,
    EnterSlot,
    DecodeSlot,
    PoolSlot,
    AdmitSlot,
    AnswerSlot,
    PlanSlot,
    CompareSlot,
    SendSlot,
    CopySlot,
    TapSlot,
    InflateSlot,
    LinesSlot,
    LostSlot,
    SettledSlot,
    ShownSlots,
    SharedSlot {
  /** The config that it was made for takes effect. It can't fail. */
  configured?(config: Config): void;
  /** The pool's endpoints are these now. */
  endpointsChanged?(endpoints: readonly Endpoint[]): void;
  /** A replica that was in service refuses connections, or can't be reached: its process has ended. */
  replicaGone?(endpoint: Endpoint): void;
  /** The router is about to stop: it serves on, but nothing need be done beside that. */
  stopAnnounced?(): void;
  /** The router has ended. */
  closed?(): void;
  dispose?(): void;
}

/** The config that runs, as features see it. */
export interface RunningConfigView {
  /** The pool's name. */
  readonly pool: string;
}
