import type { Clock } from "../../contract/clock.ts";
import type { RouterError } from "../../contract/errors.ts";
import { ignoresPromise } from "../../contract/returned-promise.ts";
import type { RequestRun } from "../../contract/slots/request-run.ts";
import { afterAwake } from "../../contract/standstill.ts";
import { type FaultReporter, failedPlugin, faultText, refusalBy } from "../../plugin-watch/plugin-faults.ts";
import type { ReadOnlyViews } from "./read-only-views.ts";

/** Where a feature of one's own is made. */
export interface OutsideFeature {
  readonly name: string;
  readonly file: string;
  readonly views: ReadOnlyViews;
  readonly clock: Clock;
  readonly faults: FaultReporter;
  /** How long a request waits for it. */
  readonly waitMs: number;
}

/** How the router calls a feature that is not its own. */
export class Outside {
  readonly name: string;
  readonly views: ReadOnlyViews;
  readonly clock: Clock;
  readonly waitMs: number;
  readonly #feature: OutsideFeature;
  readonly #runs = new WeakMap<RequestRun, RequestRun>();

  constructor(feature: OutsideFeature) {
    this.name = feature.name;
    this.views = feature.views;
    this.clock = feature.clock;
    this.waitMs = feature.waitMs;
    this.#feature = feature;
  }

  /** What the feature sees of a request: the members of the contract, and none of the router's parts. */
  run(run: RequestRun): RequestRun {
    const known = this.#runs.get(run);
    if (known !== undefined) return known;
    const view = this.views.of(new RunView(run));
    this.#runs.set(run, view);
    return view;
  }

  /** Calls what decides about a request. Throws RouterError: what it throws, or that it failed. */
  asked<Result>(method: string, call: () => Result): Result {
    try {
      return this.views.real(call());
    } catch (thrown) {
      throw this.failed(thrown, method);
    }
  }

  /** Calls what must not matter to a request. What it throws is reported, and so is a promise; then `otherwise` is returned. */
  told<Result>(method: string, call: () => Result, otherwise: Result): Result {
    try {
      const returned = call();
      if (!ignoresPromise(returned)) return returned;
      this.report(new TypeError(`${method} returned a promise, and nothing waits for one there`));
    } catch (thrown) {
      this.report(thrown);
    }
    return otherwise;
  }

  /**
   * The same for what may take its time: then a promise within the time that a request waits, which rejects with RouterError. What
   * comes is what `checked` makes of it.
   */
  awaited<Given, Result>(
    method: string,
    call: () => Promise<Given> | Given,
    checked: (given: Given) => Result,
  ): Promise<Result> | Result {
    return this.asked(method, () => {
      const given = call();
      return isThenable(given) ? this.#inTime(method, given, checked) : checked(this.views.real(given));
    });
  }

  #inTime<Given, Result>(method: string, pending: Promise<Given>, checked: (given: Given) => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      const cancel = afterAwake(this.clock, this.waitMs, () => reject(this.late(method)));
      Promise.resolve(pending)
        .finally(cancel)
        .then((given) => resolve(checked(this.views.real(given))))
        .catch((thrown: unknown) => reject(this.failed(thrown, method)));
    });
  }

  /** A refusal as it is, and anything else as a fault of the plugin. */
  failed(thrown: unknown, method: string): RouterError {
    return refusalBy("feature", this.#feature, this.views.thrown(thrown), `failed on this request in ${method}`);
  }

  late(method: string): RouterError {
    const cause = new Error(`${method} took longer than spec.limits.featureWaitMs (${this.waitMs} ms)`);
    return failedPlugin("feature", this.#feature, cause, `took too long with this request in ${method}`);
  }

  report(thrown: unknown): void {
    this.#feature.faults.report(this.name, faultText(this.views.thrown(thrown), this.#feature.file));
  }
}

function isThenable(value: unknown): value is Promise<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { readonly then?: unknown }).then === "function";
}

/** What the contract has of a run. */
class RunView implements RequestRun {
  readonly #run: RequestRun;

  constructor(run: RequestRun) {
    this.#run = run;
  }

  get ticket(): RequestRun["ticket"] {
    return this.#run.ticket;
  }

  get head(): RequestRun["head"] {
    return this.#run.head;
  }

  get query(): string {
    return this.#run.query;
  }

  get peer(): string {
    return this.#run.peer;
  }

  get dialect(): RequestRun["dialect"] {
    return this.#run.dialect;
  }

  get body(): RequestRun["body"] {
    return this.#run.body;
  }

  get parsed(): RequestRun["parsed"] {
    return this.#run.parsed;
  }
}
