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
  /** The event streams that it adds to the admin API. */
  readonly streams?: readonly ObserverStream[];
  /** Why it can't do its work now, as words behind "The KIND X can't do its work: "; "" if it can. Called when somebody looks at the status. */
  trouble?(): string;
  dispose?(): void;
}

export interface ObserverPage {
  /** For example "/metrics"; unique among all pages. */
  readonly path: string;
  readonly contentType: string;
  /** Returns the text of the page now; it must change nothing. */
  render(view: RouterView, query: URLSearchParams): string;
}

/**
 * Events as they happen. The router serves them as server-sent events to a bounded number of listeners; one that reads too slowly
 * loses events and is told how many.
 */
export interface ObserverStream {
  /** Below /api/v1, for example "/decisions/stream"; unique among all streams. The API's own paths come first. */
  readonly path: string;
  /** What it tells, in one sentence, for the description of the API. */
  readonly summary: string;
  /** The parameters of the query that it takes; any other is refused. */
  readonly parameters: readonly { readonly name: string; readonly meaning: string }[];
  /**
   * Sends events from now on, until the returned function is called. Throws a RouterError that says what to change when a parameter
   * is not valid. Keep the listeners in `host.keep`: then an instance of the next config goes on with them.
   */
  listen(query: URLSearchParams, send: SendEvent): () => void;
}

/** Sends one event to a listener. `make` returns its text; it is called only if the listener can take the event now. Never waits. */
export type SendEvent = (make: () => string) => void;
