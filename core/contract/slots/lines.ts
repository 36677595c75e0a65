import type { RequestRun } from "./request-run.ts";

/**
 * Which header lines does the client's response get? Called when the head of a response is written, the router's own errors included.
 * Returns complete lines, each with its line end; "" for none.
 *
 * @example
 * lines: (run) => (run.parsed === undefined ? "" : `x-prompt-tokens: ${run.parsed.promptTokens}\r\n`)
 */
export interface LinesSlot {
  lines?(run: RequestRun): string;
}
