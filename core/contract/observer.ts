import type { Outcome } from "./outcome.ts";
import type { RouterView } from "./router-view.ts";

/**
 * What happened? Plain data after the fact; a throw is logged and changes nothing.
 *
 * @example
 * create: (_options, host) => ({
 *   finished: ({ id, status, durationMs }) => host.output.print(`${id} ${status} ${durationMs}`),
 * })
 */
export interface Observer {
  /** Called once for each request, when it has ended. */
  finished(outcome: Outcome): void;
  /** What it shows on the admin port. */
  readonly pages?: readonly ObserverPage[];
  dispose?(): void;
}

export interface ObserverPage {
  /** "/metrics", say; no other observer's page has it. */
  readonly path: string;
  readonly contentType: string;
  /** The page as it is now. Asking for it changes nothing. */
  render(view: RouterView, query: URLSearchParams): string;
}
