import type { Outcome } from "./outcome.ts";
import type { RouterView } from "./router-view.ts";

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
