import type { Feature } from "../../contract/feature.ts";
import { ignoresPromise } from "../../contract/returned-promise.ts";
import type { AdmitSlot, WaitingPlace, WaitOwner } from "../../contract/slots/admit.ts";
import type { RequestRun } from "../../contract/slots/request-run.ts";
import { afterAwake } from "../../contract/standstill.ts";
import type { Outside } from "./outside.ts";

type Admit = NonNullable<AdmitSlot["admit"]>;

/** How a feature of one's own lets requests wait. */
export function admitting(feature: Feature, outside: Outside): AdmitSlot {
  const { admit, admitAgain, bodyKeys } = feature;
  return {
    ...(bodyKeys && { bodyKeys: checkedKeys(bodyKeys) }),
    ...(admit && { admit: (run, owner) => placed("admit", admit.bind(feature), run, owner, outside) }),
    ...(admitAgain && { admitAgain: (run, owner) => placed("admitAgain", admitAgain.bind(feature), run, owner, outside) }),
  };
}

/** Throws TypeError for keys that can't be looked for. */
function checkedKeys(keys: readonly string[]): readonly string[] {
  if (Array.isArray(keys) && keys.every((key) => typeof key === "string")) return [...keys];
  throw new TypeError("bodyKeys must be a list of names");
}

/** Undefined: it goes on, also where the feature has said so while it was asked. Throws RouterError. */
function placed(method: string, admit: Admit, run: RequestRun, owner: WaitOwner, outside: Outside): WaitingPlace | undefined {
  const wait = new IsolatedWait(method, owner, outside);
  const told: WaitOwner = Object.freeze({ admitted: () => wait.admitted(), failed: (thrown: unknown) => wait.failed(thrown) });
  const place: unknown = outside.asked(method, () => admit(outside.run(run), told));
  return outside.asked(method, () => wait.begin(place));
}

/** One request's wait: it ends once, and in time. */
class IsolatedWait implements WaitingPlace {
  readonly #method: string;
  readonly #owner: WaitOwner;
  readonly #outside: Outside;
  #state: "asked" | "waits" | "over" = "asked";
  /** What the feature said while it was asked. */
  #early: { readonly thrown?: unknown } | undefined;
  #place: WaitingPlace | undefined;
  #cancel: () => void = () => {};

  constructor(method: string, owner: WaitOwner, outside: Outside) {
    this.#method = method;
    this.#owner = owner;
    this.#outside = outside;
  }

  begin(place: unknown): WaitingPlace | undefined {
    const early = this.#early;
    this.#state = "over";
    // Also where the feature has spoken before it: a promise is no place, and its rejection must not end the process.
    const isPromise = ignoresPromise(place);
    if (early !== undefined && "thrown" in early) throw this.#outside.failed(early.thrown, this.#method);
    if (early !== undefined || place === undefined) return undefined;
    if (isPromise || typeof (place as Partial<WaitingPlace> | null)?.leave !== "function") throw this.#noPlace();
    this.#state = "waits";
    this.#place = place as WaitingPlace;
    this.#cancel = afterAwake(this.#outside.clock, this.#outside.waitMs, () => {
      this.leave();
      this.#owner.failed(this.#outside.late(this.#method));
    });
    return this;
  }

  admitted(): void {
    if (this.#state === "asked") this.#early ??= {};
    else if (this.#ends()) this.#owner.admitted();
  }

  failed(thrown: unknown): void {
    if (this.#state === "asked") this.#early ??= { thrown };
    else if (this.#ends()) this.#owner.failed(this.#outside.failed(thrown, this.#method));
  }

  leave(): void {
    if (this.#ends()) this.#outside.told(`${this.#method}: leave`, () => this.#place?.leave(), undefined);
  }

  #ends(): boolean {
    if (this.#state !== "waits") return false;
    this.#state = "over";
    this.#cancel();
    return true;
  }

  #noPlace(): unknown {
    const wanted = `${this.#method} must return nothing, or a place with leave(): not a promise, nor anything else`;
    return this.#outside.failed(new TypeError(wanted), this.#method);
  }
}
