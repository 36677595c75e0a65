import type { ReloadReport, RunningConfig } from "../../../../config/running/running-config.ts";
import type { SharedState } from "./messages.ts";
import type { ParentEnd } from "./parent-end.ts";

/**
 * Tells the other workers what was changed beside the files (by the admin API, by a guard, because its time is over), and takes what they
 * tell. The parent sends each change to all, also to whom it came from, in one order: so all end with the same.
 */
export class StateSync {
  readonly #end: ParentEnd;
  /** What all workers have, as far as this one knows. */
  #common = "";

  constructor(end: ParentEnd) {
    this.#end = end;
  }

  /** From now on; the config began with `state`. */
  follow(running: RunningConfig, state: SharedState): void {
    this.#common = keyOf(state);
    const { overlay } = state;
    if (overlay.rewrites.length > 0) void running.change(() => overlay, "api");
    this.#end.told = {
      reload: (cause, by) => void running.reload(cause, by),
      state: ({ texts, overlay }, cause, by) => {
        this.#common = keyOf({ texts, overlay });
        if (this.#common === keyOfRunning(running)) return;
        const hasTexts = JSON.stringify(texts) === JSON.stringify(running.loaded.texts);
        if (hasTexts) void running.change(() => overlay, cause, by);
        // Generations are numbered by each worker; 0 is none of its own.
        else void running.restore(() => ({ texts, overlay, generation: 0 }), by);
      },
    };
  }

  /** An attempt to change the config has ended. */
  reported(running: RunningConfig, { cause, isApplied, problems }: ReloadReport): void {
    const isOfAll = this.#end.isCommitted;
    this.#end.isCommitted = false;
    const { texts } = running.loaded;
    const key = keyOfRunning(running);
    if (isOfAll) this.#end.parent.send({ kind: "taken", refusal: problems.join("; ") });
    if (isApplied && isOfAll) this.#common = key;
    if (this.#end.told === undefined || key === this.#common) return;
    if (!isApplied) return this.#end.parent.send({ kind: "astray", why: problems.join("; ") });
    this.#common = key;
    this.#end.parent.send({ kind: "state", state: { texts, overlay: running.overlay }, cause, by: "another worker" });
  }
}

function keyOfRunning({ loaded: { texts }, overlay }: RunningConfig): string {
  return keyOf({ texts, overlay });
}

function keyOf({ texts, overlay }: SharedState): string {
  return JSON.stringify([texts, overlay]);
}
