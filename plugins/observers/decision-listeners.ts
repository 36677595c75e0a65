import type { SendEvent } from "../../core/contract/observer.ts";
import { type EndedRequest, reportOf } from "../../core/report/decision-report.ts";
import type { DecisionFilter } from "./decision-filter.ts";

interface Listener {
  readonly filter: DecisionFilter;
  readonly send: SendEvent;
}

/** Who wants to hear of each request that ends. Without any, no report is made. */
export class DecisionListeners {
  readonly #listeners = new Set<Listener>();

  /** Returns what ends it. */
  add(filter: DecisionFilter, send: SendEvent): () => void {
    const listener = { filter, send };
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Makes the report once, when the first listener takes it. */
  tell(ended: EndedRequest): void {
    if (this.#listeners.size === 0) return;
    let text: string | undefined;
    const make = () => {
      text ??= JSON.stringify(reportOf(ended));
      return text;
    };
    for (const { filter, send } of this.#listeners) if (filter(ended)) send(make);
  }
}
