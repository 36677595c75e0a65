import type { Clock } from "../../../core/contract/clock.ts";
import type { Random } from "../../../core/contract/profile-plugin.ts";
import type { Carrier, LinkEvents } from "../../../core/pool/carrier.ts";

/** How messages go between simulated routers. */
export interface CarrierSettings {
  readonly delayMs: number;
  /** Of the messages, which part gets lost, in [0, 1). */
  readonly loss: number;
}

/** Carries messages between routers of one simulation, late, and not all of them. */
export function modelledCarrier({ delayMs, loss }: CarrierSettings, clock: Clock, random: Random): Carrier {
  const channels = new Map<string, Set<LinkEvents>>();
  return (channel, events) => {
    const listeners = channels.get(channel) ?? new Set<LinkEvents>();
    channels.set(channel, listeners.add(events));
    clock.after(0, () => {
      if (listeners.has(events)) events.up();
    });
    return {
      publish(message) {
        for (const listener of listeners) {
          if (loss > 0 && random() < loss) continue;
          clock.after(delayMs, () => {
            if (listeners.has(listener)) listener.received(message);
          });
        }
      },
      close: () => void listeners.delete(events),
    };
  };
}
