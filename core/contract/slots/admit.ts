import type { RequestRun } from "./request-run.ts";

/**
 * May the request go on now? Called when its body has been parsed, before anything is decided. Throws a RouterError to refuse it. Returns
 * a place if the request has to wait: `owner` is told once when it goes on, or fails.
 *
 * @example
 * admit: (run) => {
 *   if (run.parsed.promptTokens > 100_000) throw new RouterError("invalid_value", "Send at most 100,000 tokens.");
 * }
 */
export interface AdmitSlot {
  /** Top-level keys of JSON bodies that it reads (`run.body.span`), beside those of the parsers. */
  readonly bodyKeys?: readonly string[];
  admit?(run: RequestRun, owner: WaitOwner): WaitingPlace | undefined;
  /** The same for a request that went on, and that no replica could be reached for: without a place it fails. */
  admitAgain?(run: RequestRun, owner: WaitOwner): WaitingPlace | undefined;
}

/** Whose request waits. */
export interface WaitOwner {
  /** It goes on now. */
  admitted(): void;
  failed(thrown: unknown): void;
}

export interface WaitingPlace {
  /** The request waits no more. Has no effect when it has gone on or failed. */
  leave(): void;
}
