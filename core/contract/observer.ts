import type { Outcome } from "./outcome.ts";
import type { HeaderView } from "./request.ts";
import type { RouterView } from "./router-view.ts";
import type { Trace } from "./trace.ts";

/**
 * What happened? It gets plain data when a request has ended. If it throws, that is logged and changes nothing.
 *
 * @example
 * create: (_options, host) => ({
 *   finished: ({ id, status, durationMs }) => host.output.print(`${id} ${status} ${durationMs}`),
 * })
 */
export interface Observer {
  /** Called once for each request, when it has ended. */
  finished(outcome: Outcome): void;
  /**
   * Called once for each request to an API, when its head has come. Returns the request's trace if it is to be recorded: the outcome
   * has it, and each try tells the replica in `traceparent` that it belongs to it. Only one observer of a config may have this.
   */
  trace?(headers: HeaderView): Trace | undefined;
  /** The pages that it adds to the admin port. */
  readonly pages?: readonly ObserverPage[];
  dispose?(): void;
}

export interface ObserverPage {
  /** For example "/metrics"; unique among all pages. */
  readonly path: string;
  readonly contentType: string;
  /** Returns the text of the page now; it must change nothing. */
  render(view: RouterView, query: URLSearchParams): string;
}
