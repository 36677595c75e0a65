import type { Endpoint } from "../../core/contract/endpoint.ts";

const MOST_KEPT = 1024;

interface Sent {
  /** The endpoint's name, because another endpoint may get the slot. */
  readonly name: string;
  /** Oldest first. */
  readonly targets: Set<string>;
}

/** The targets sent to each endpoint most recently: its engine probably has those adapters loaded. */
export class RecentTargets {
  readonly #bySlot: (Sent | undefined)[] = [];

  note(target: string, { slot, name }: Endpoint): void {
    let sent = this.#bySlot[slot];
    if (sent?.name !== name) {
      sent = { name, targets: new Set() };
      this.#bySlot[slot] = sent;
    }
    const { targets } = sent;
    targets.delete(target);
    targets.add(target);
    const [oldest] = targets;
    if (targets.size > MOST_KEPT && oldest !== undefined) targets.delete(oldest);
  }

  /** The last `count` different targets. */
  last({ slot, name }: Endpoint, count = MOST_KEPT): readonly string[] {
    const sent = this.#bySlot[slot];
    return sent === undefined || sent.name !== name ? [] : [...sent.targets].slice(-count);
  }

  /** Whether the target is one of the last `count` different targets. */
  isAmongLast(target: string, { slot, name }: Endpoint, count: number): boolean {
    const sent = this.#bySlot[slot];
    if (sent === undefined || sent.name !== name || !sent.targets.has(target)) return false;
    let later = sent.targets.size;
    for (const other of sent.targets) {
      later--;
      if (other === target) break;
    }
    return later < count;
  }
}
