import type { Endpoint } from "../../core/contract/endpoint.ts";

const MOST_KEPT = 1024;

interface Sent {
  /** A slot may get another endpoint. */
  readonly name: string;
  /** Oldest first. */
  readonly targets: Set<string>;
}

/** Which targets were sent to each endpoint last, as its engine's own memory of adapters would have it. */
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

  /** Whether it is one of the last so many different targets. */
  isAmongLast(target: string, { slot, name }: Endpoint, count: number): boolean {
    const sent = this.#bySlot[slot];
    if (sent === undefined || sent.name !== name || !sent.targets.has(target)) return false;
    let later = 0;
    let isPassed = false;
    for (const other of sent.targets) {
      if (isPassed) later++;
      if (other === target) isPassed = true;
    }
    return later < count;
  }
}
